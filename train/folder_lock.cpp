#include "train/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace tapeline {

FolderLock::FolderLock(const std::filesystem::path& folder, const char* what)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  require<FileError>(descriptor_.number() >= 0, "{}: \"{}\" cannot be opened: {}", what, folder.string(),
                     std::strerror(errno));
  // Any other refusal is that of a disk: NFS wants a file open for writing, some know no locks at all.
  const bool in_use = ::flock(descriptor_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  require<FileError>(!in_use, "{}: \"{}\" is in use by another run; wait for it, or give another --out", what,
                     folder.string());
}

}  // namespace tapeline

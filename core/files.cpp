#include "core/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/descriptor.h"
#include "core/error.h"

namespace tapeline {
namespace {

namespace fs = std::filesystem;

/// The system's reason for the last failure, in words.
std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail_with(const char* action, const fs::path& path, int error) {
  fail<FileError>("{} \"{}\": {}", action, path.string(), reason(error));
}

/// Removes the temporary file unless it has become the real one.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)) {}
  ~Temporary() {
    if (!kept_) ::unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const fs::path& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  fs::path path_;
  bool kept_ = false;
};

/// Whether the file holds exactly these parts.
bool holds(int descriptor, std::initializer_list<std::string_view> parts) {
  std::array<char, std::size_t{1} << 16> buffer;
  for (std::string_view part : parts) {
    while (!part.empty()) {
      const ssize_t count = read_some(descriptor, buffer.data(), std::min(buffer.size(), part.size()));
      if (count <= 0) return false;
      const auto bytes = static_cast<std::size_t>(count);
      if (std::memcmp(buffer.data(), part.data(), bytes) != 0) return false;
      part.remove_prefix(bytes);
    }
  }
  return read_some(descriptor, buffer.data(), 1) == 0;
}

/// ".<name>.tapeline-<process>-<number>": what a file is called until it is whole.
constexpr std::string_view temporary_infix = ".tapeline-";

/// Removes the temporary files that a killed program left in the folder: those that nobody holds locked. A
/// process number would not tell, it may be in use again, by this very process too.
void remove_leftovers(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::size_t infix = name.rfind(temporary_infix);
    if (!name.starts_with('.') || infix == std::string::npos ||
        name.find_first_not_of("0123456789-", infix + temporary_infix.size()) != std::string::npos) {
      continue;
    }
    const Descriptor file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (file.number() >= 0 && ::flock(file.number(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
  }
}

/// A new temporary file beside `path`, locked for as long as it is open. Returns its descriptor and name.
std::pair<int, fs::path> create_temporary(const fs::path& folder, const fs::path& path) {
  static std::atomic<unsigned> count{0};
  for (;;) {
    const fs::path name =
        folder / fmt::format(".{}{}{}-{}", path.filename().string(), temporary_infix, ::getpid(), count++);
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) fail_with("cannot write", path, errno);
    // Another process may have swept it away between the two calls: then it has no name any more. A file
    // system without locks sweeps nothing.
    struct stat status {};
    if (::flock(file, LOCK_EX | LOCK_NB) == 0 && ::fstat(file, &status) == 0 && status.st_nlink == 0) {
      ::close(file);
      continue;
    }
    return {file, name};
  }
}

/// Where the new file goes: to `path`, or to what a link there leads to. Only a regular file, or nothing, may
/// be replaced: a device or a pipe of that name would be gone.
fs::path place_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status own = fs::symlink_status(path, error);
  fs::path place = path;
  if (fs::is_symlink(own)) {
    place = fs::canonical(path, error);
    require<FileError>(!error, "cannot write \"{}\": it is a link that leads to no file; give another name",
                       path.string());
  }
  const fs::file_status found = fs::status(place, error);
  if (fs::is_directory(found)) fail_with("cannot write", path, EISDIR);
  require<FileError>(
      !fs::exists(found) || fs::is_regular_file(found),
      "cannot write \"{}\": it is a device, a pipe or a socket, and would be replaced by a file; "
      "give the name of a file",
      path.string());
  return place;
}

/// A folder that cannot be flushed (some file systems refuse) has still been renamed in.
void flush_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.number() >= 0) ::fsync(descriptor.number());
}

}  // namespace

std::string read_file(const fs::path& path) {
  // Without O_NONBLOCK a pipe would be waited for, by whoever opens it.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) fail_with("cannot read", path, errno);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail_with("cannot read", path, errno);
  if (S_ISDIR(status.st_mode)) fail_with("cannot read", path, EISDIR);
  require<FileError>(S_ISREG(status.st_mode),
                     "cannot read \"{}\": it is a device, a pipe or a socket, and should be a regular file",
                     path.string());
  std::string content(static_cast<std::size_t>(std::max<off_t>(status.st_size, 0)) + 1, '\0');
  std::size_t filled = 0;
  for (;;) {
    if (filled == content.size()) content.resize(2 * content.size());
    const ssize_t count = read_some(file.number(), content.data() + filled, content.size() - filled);
    if (count < 0) fail_with("cannot read", path, errno);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  content.resize(filled);
  return content;
}

namespace {

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

void check_can_write(const fs::path& given) {
  const fs::path path = place_of(given);
  const auto [descriptor, name] = create_temporary(folder_of(path), path);
  const Descriptor file(descriptor);
  const Temporary removed_again(name);
}

void write_file(const fs::path& given, std::initializer_list<std::string_view> parts) {
  const fs::path path = place_of(given);
  const fs::path folder = folder_of(path);
  remove_leftovers(folder);
  const auto [descriptor, name] = create_temporary(folder, path);
  const Descriptor file(descriptor);
  Temporary temporary(name);
  struct stat old {};
  if (::stat(path.c_str(), &old) == 0 && ::fchmod(file.number(), old.st_mode & 07777) != 0) {
    fail_with("cannot write", path, errno);
  }

  for (const std::string_view part : parts) {
    if (!write_all(file.number(), part)) fail_with("cannot write", path, errno);
  }
  // What a disk has to say against the file it says here; the file stays open, and with it the lock.
  if (::fsync(file.number()) != 0) fail_with("cannot write", path, errno);

  {
    const Descriptor written(::open(temporary.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (written.number() < 0) fail_with("cannot read back", path, errno);
    require<FileError>(
        holds(written.number(), parts),
        "cannot write \"{}\": what was read back differs from what was written; check the disk",
        path.string());
  }
  if (::rename(temporary.path().c_str(), path.c_str()) != 0) fail_with("cannot write", path, errno);
  temporary.keep();
  flush_folder(folder);
}

void write_file(const fs::path& path, std::string_view content) { write_file(path, {content}); }

}  // namespace tapeline

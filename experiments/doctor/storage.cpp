#include "experiments/doctor/storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/descriptor.h"
#include "core/excerpt.h"

namespace tapeline {
namespace {

namespace fs = std::filesystem;

constexpr const char* elsewhere = "tapeline doctor --out ANOTHER-FOLDER, then the same --out for training";
constexpr double too_little_space = 0.1 * gigabyte;  // a checkpoint or two
constexpr double tight_space = gigabyte;             // all cells of the default comparison

std::string shown(const fs::path& path) { return fmt::format("\"{}\"", excerpt(path.string(), 200)); }

Finding refused(const std::string& found) {
  return {"folder", Finding::State::problem, found + ": no run can be saved there", elsewhere};
}

/// The folder itself, or the nearest above it that is there.
fs::path nearest_existing(const fs::path& out) {
  fs::path folder = fs::absolute(out).lexically_normal();
  std::error_code none;
  // A link that leads nowhere counts as there: no folder can be made in its place.
  while (!fs::exists(fs::symlink_status(folder, none)) && folder.has_relative_path())
    folder = folder.parent_path();
  return folder;
}

/// The number of a file without a name, gone when it is closed; below 0 the reason is in errno.
int open_nameless(const fs::path& folder) {
  std::string name = (folder / ".tapeline-doctor-XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

/// Whether a lock keeps another one out. Where there is none, a second run in the same folder is not refused.
Finding locking(const Descriptor& file) {
  const Descriptor again(::open(fmt::format("/proc/self/fd/{}", file.number()).c_str(), O_RDWR | O_CLOEXEC));
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0)
    return {"locking", Finding::State::note,
            fmt::format("this disk knows no file locks ({}): a second run in one folder is not refused, and "
                        "files left by a killed one stay",
                        std::strerror(errno)),
            elsewhere};
  if (again.number() >= 0 && ::flock(again.number(), LOCK_EX | LOCK_NB) == 0)
    return {"locking", Finding::State::note,
            "a lock on this disk keeps nobody out: two runs disturb each other", elsewhere};
  return all_well("locking", "files can be locked");
}

Finding free_space(const fs::path& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0)
    return {"space", Finding::State::note, fmt::format("the disk does not tell: {}", std::strerror(errno)),
            elsewhere};
  const double bytes = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  std::string found = fmt::format("{:.1f} GB free", bytes / gigabyte);
  const std::string mend = fmt::format("du -sh {}/* | sort -h shows what takes it; or --out on another disk",
                                       excerpt(folder.string(), 200));
  if (disk.f_files > 0 && disk.f_favail == 0)
    return {"space", Finding::State::problem, found + ", but the disk holds no more files", mend};
  if (bytes < too_little_space)
    return {"space", Finding::State::problem, found + ": too little for checkpoints", mend};
  if (bytes < tight_space)
    return {"space", Finding::State::note, found + ": a comparison may need more", mend};
  return all_well("space", found);
}

}  // namespace

Findings examine_storage(const fs::path& out) {
  const fs::path folder = nearest_existing(out);
  std::error_code none;
  if (!fs::is_directory(folder, none)) return {refused(fmt::format("{} is not a folder", shown(folder)))};
  const Descriptor file(open_nameless(folder));
  if (file.number() < 0)
    return {refused(fmt::format("{} cannot be written to: {}", shown(folder), std::strerror(errno))),
            free_space(folder)};
  const std::string block(4096, 'x');  // quotas and full disks speak when written to
  if (!write_all(file.number(), block) || ::fsync(file.number()) != 0)
    return {refused(fmt::format("{} takes no data: {}", shown(folder), std::strerror(errno))),
            free_space(folder)};
  const bool there = fs::exists(out, none);
  return {all_well("folder", there ? fmt::format("{} can be written to", shown(folder))
                                   : fmt::format("{} can be made in {}", shown(out), shown(folder))),
          locking(file), free_space(folder)};
}

}  // namespace tapeline

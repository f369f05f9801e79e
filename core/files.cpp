#include "core/files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/error.h"

namespace tapeline {
namespace {

namespace fs = std::filesystem;

/// The system's reason for the last failure, in words.
std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail_with(const char* action, const fs::path& path, int error) {
  fail<FileError>("{} \"{}\": {}", action, path.string(), reason(error));
}

/// An open file, closed at the end of the scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  /// Closes and says whether that worked: some file systems report a full disk only here.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

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

/// read() that goes on after an interruption. Returns what read() returns.
ssize_t read_some(int descriptor, char* to, std::size_t bytes) {
  for (;;) {
    const ssize_t count = ::read(descriptor, to, bytes);
    if (count >= 0 || errno != EINTR) return count;
  }
}

/// Writes all of `bytes`; false with errno set on failure.
bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

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

/// Removes temporary files of this name whose process is gone: what a killed program left behind.
void remove_leftovers(const fs::path& folder, const std::string& stem) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(stem)) continue;
    const long process = std::strtol(name.c_str() + stem.size(), nullptr, 10);
    if (process > 0 && ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) {
      ::unlink(entry.path().c_str());
    }
  }
}

/// A folder that cannot be flushed (some file systems refuse) has still been renamed in.
void flush_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.number() >= 0) ::fsync(descriptor.number());
}

}  // namespace

std::string read_file(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) fail_with("cannot read", path, errno);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail_with("cannot read", path, errno);
  if (S_ISDIR(status.st_mode)) fail_with("cannot read", path, EISDIR);
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

void write_file(const fs::path& path, std::initializer_list<std::string_view> parts) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string stem = fmt::format(".{}.tmp-", path.filename().string());
  remove_leftovers(folder, stem);
  static std::atomic<unsigned> number{0};
  const fs::path name = folder / fmt::format("{}{}-{}", stem, ::getpid(), number++);
  Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.number() < 0) fail_with("cannot write", path, errno);
  Temporary temporary(name);
  struct stat old {};
  if (::stat(path.c_str(), &old) == 0 && ::fchmod(file.number(), old.st_mode & 07777) != 0) {
    fail_with("cannot write", path, errno);
  }

  for (const std::string_view part : parts) {
    if (!write_all(file.number(), part)) fail_with("cannot write", path, errno);
  }
  if (::fsync(file.number()) != 0) fail_with("cannot write", path, errno);
  if (!file.close()) fail_with("cannot write", path, errno);

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

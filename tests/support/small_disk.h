#pragma once

#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "tests/support/temporary_folder.h"

namespace tapeline::test {

/// A disk of a few hundred kilobytes, mounted for one test. Mounting needs rights that not everybody has:
/// without them mounted() is false, why() says so, and the test has to be skipped.
class SmallDisk {
 public:
  explicit SmallDisk(int kilobytes) {
    std::filesystem::create_directories(path());
    const std::string size = "size=" + std::to_string(kilobytes) + "k";
    mounted_ = ::mount("tapeline-test", path().c_str(), "tmpfs", 0, size.c_str()) == 0;
    if (!mounted_)
      why_ = std::string("skipped: a small disk cannot be mounted here: ") + std::strerror(errno);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const std::string& why() const { return why_; }
  std::filesystem::path path() const { return folder_ / "disk"; }
  std::filesystem::path operator/(const std::string& name) const { return path() / name; }

  /// Fills it with a file "filler", all but about `left` bytes.
  void fill_up_to(std::uintmax_t left) const {
    const std::uintmax_t room = std::filesystem::space(path()).available;
    if (room <= left) return;
    std::ofstream(*this / "filler", std::ios::binary) << std::string(room - left, 'x');
  }
  void empty_again() const { std::filesystem::remove(*this / "filler"); }

 private:
  TemporaryFolder folder_;
  bool mounted_ = false;
  std::string why_;
};

}  // namespace tapeline::test

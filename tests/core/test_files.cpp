#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.h"
#include "core/files.h"
#include "core/sha256.h"
#include "tests/support/temporary_folder.h"

using namespace tapeline;
namespace fs = std::filesystem;

namespace {

using Folder = test::TemporaryFolder;

/// A file-size limit with its signal ignored, as the program does it.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limited{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

std::string error_text(const auto& action) {
  try {
    action();
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("files: what is written in parts is read back as one, zero bytes and all") {
  const Folder folder;
  const fs::path path = folder.path() / "data.bin";
  const std::string zeros("\0\xff\r\n", 4), large(300000, 'x');
  write_file(path, {"head", zeros, "", large});
  CHECK(read_file(path) == "head" + zeros + large);
  write_file(path, "");
  CHECK(read_file(path).empty());
  CHECK(folder.files() == 1);
}

TEST_CASE("files: a new file has the user's usual permissions, a replaced one keeps its own") {
  const Folder folder;
  const fs::path path = folder.path() / "latest";
  const mode_t mask = ::umask(0);
  ::umask(mask);
  write_file(path, "a");
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == (0666 & ~mask));
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  write_file(path, "b");
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(read_file(path) == "b");
}

TEST_CASE("files: under a file-size limit the old file stays, nothing is left behind, the reason is told") {
  const Folder folder;
  const fs::path path = folder.path() / "checkpoint";
  write_file(path, "the old state");
  std::string text;
  {
    const FileSizeLimit limit(10000);
    const std::string large(20000, 'x');
    text = error_text([&] { write_file(path, large); });
  }
  CHECK(text == "cannot write \"" + path.string() + "\": File too large");
  CHECK(read_file(path) == "the old state");
  CHECK(folder.files() == 1);
}

TEST_CASE("files: a folder that takes no files is refused in one line") {
  const std::string text = error_text([] { write_file("/proc/tapeline-test", "x"); });
  CHECK(text.starts_with("cannot write \"/proc/tapeline-test\": "));
}

TEST_CASE("files: errors name the path and the reason") {
  const Folder folder;
  const fs::path missing = folder.path() / "no" / "such";
  CHECK(error_text([&] { read_file(missing); }) ==
        "cannot read \"" + missing.string() + "\": No such file or directory");
  CHECK(error_text([&] { write_file(missing, "x"); }) ==
        "cannot write \"" + missing.string() + "\": No such file or directory");
  CHECK(error_text([&] { read_file(folder.path()); }) ==
        "cannot read \"" + folder.path().string() + "\": Is a directory");
  const fs::path pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);  // nobody writes into it: whoever waited would wait for ever
  for (const fs::path& other : {pipe, fs::path("/dev/zero")}) {
    CHECK(error_text([&] { read_file(other); }) ==
          "cannot read \"" + other.string() +
              "\": it is a device, a pipe or a socket, and should be a regular file");
  }
}

TEST_CASE("files: what a killed process left is removed by the next save; what another one writes is not") {
  const Folder folder;
  // Process numbers come back: in a container every run of a program may have the same one.
  const fs::path ours = folder.path() / fmt::format(".latest.tapeline-{}-0", ::getpid());
  const fs::path elses = folder.path() / ".step-00000018.h5.tapeline-4194305-7";
  const fs::path held = folder.path() / ".latest.tapeline-4194305-0";
  const fs::path foreign = folder.path() / ".latest.tapeline-notes";
  for (const fs::path& path : {ours, elses, held, foreign}) std::ofstream(path) << "half";
  const int writer = ::open(held.c_str(), O_WRONLY);
  REQUIRE(::flock(writer, LOCK_EX | LOCK_NB) == 0);
  for (int save = 0; save < 3; ++save) write_file(folder.path() / "latest", "whole");
  CHECK(read_file(folder.path() / "latest") == "whole");
  CHECK_FALSE(fs::exists(ours));
  CHECK_FALSE(fs::exists(elses));
  CHECK(fs::exists(held));
  CHECK(fs::exists(foreign));
  ::close(writer);
}

TEST_CASE("files: whether a path can be written is known before, and nothing is left of the question") {
  const Folder folder;
  const fs::path pipe = folder / "pipe", old = folder / "old";
  write_file(old, "old");
  check_can_write(old);
  check_can_write(folder / "new");
  CHECK(read_file(old) == "old");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_AS(check_can_write(pipe), FileError);
  CHECK_THROWS_AS(check_can_write(folder.path()), FileError);
  CHECK(error_text([&] { check_can_write(folder / "missing/new"); }).find("missing/new") !=
        std::string::npos);
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);
}

TEST_CASE("files: a file in the current folder needs no folder in its name") {
  const Folder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file("plain", "content");
  CHECK(read_file("plain") == "content");
  fs::current_path(before);
}

TEST_CASE("sha256: the published digests, in one piece or many") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 pieces;
  for (int i = 0; i < 1000; ++i) pieces.update("aaaaaaaaaa").update("").update(std::string(990, 'a'));
  CHECK(pieces.hex_digest() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK_THROWS_AS(pieces.update("more"), StateError);
  CHECK_THROWS_AS(pieces.digest(), StateError);
  CHECK(Sha256().update("abc").digest()[0] == 0xba);
}

TEST_CASE("files: only a regular file or nothing is replaced; a link stays a link") {
  const Folder folder;
  const fs::path target = folder / "target", link = folder / "link", pipe = folder / "pipe";
  write_file(target, "old");
  fs::create_symlink("target", link);
  write_file(link, "new");
  CHECK(fs::is_symlink(link));
  CHECK(read_file(target) == "new");

  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(error_text([&] { write_file(pipe, "x"); }).find("it is a device, a pipe or a socket") !=
        std::string::npos);
  CHECK(fs::is_fifo(pipe));
  const fs::path device = folder / "device";
  if (::mknod(device.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {  // root's only
    CHECK_THROWS_AS(write_file(device, "x"), FileError);
    CHECK(fs::is_character_file(device));
  }
  const fs::path dangling = folder / "dangling";
  fs::create_symlink("nowhere", dangling);
  CHECK(error_text([&] { write_file(dangling, "x"); }).find("leads to no file") != std::string::npos);
  CHECK(fs::is_symlink(dangling));
  CHECK_FALSE(fs::exists(folder / "nowhere"));
  fs::create_directory(folder / "inner");
  CHECK(error_text([&] { write_file(folder / "inner", "x"); }).find("Is a directory") != std::string::npos);
}

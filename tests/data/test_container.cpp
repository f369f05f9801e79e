#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>

#include "core/files.h"
#include "core/random.h"
#include "data/hdf5_reader.h"
#include "data/hdf5_writer.h"
#include "tests/support/temporary_folder.h"

namespace tapeline {
namespace {

std::string small_body(int value = 7) {
  Hdf5Writer writer;
  writer.attribute("/", "format", std::string("tapeline"));
  writer.numbers("/values", std::vector<float>(1000, static_cast<float>(value)));
  writer.text("/text", std::string(3000, 'x'));
  return writer.finish();
}

/// Nothing if the file is refused as it should be: FileError, one line, the file's name in it.
std::string how_refused(const std::string& path) {
  try {
    const Hdf5Reader reader = Hdf5Reader::open(path, "checkpoint");
    return "was read";
  } catch (const FileError& error) {
    const std::string text = error.what();
    if (text.find('\n') != text.npos) return "more than one line: " + text;
    return text.find(path) == text.npos ? "not named: " + text : "";
  }
}

TEST_CASE("container: a block of text in front, which HDF5 tools skip") {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "a.h5";
  const std::string body = small_body();
  Container::write(path, "checkpoint", body);
  const std::string file = read_file(path);
  REQUIRE(file.size() == 512 + body.size());
  CHECK(
      file.starts_with("tapeline checkpoint\nformat 1\nlength " + std::to_string(body.size()) + "\nsha256 "));
  CHECK(file.substr(512) == body);
  CHECK(file.substr(512, 8) == "\x89HDF\r\n\x1a\n");
  CHECK(Container::kind_of(path) == "checkpoint");
  const Hdf5Reader reader = Hdf5Reader::open(path, "checkpoint");
  CHECK(reader.numbers<float>("/values") == std::vector<float>(1000, 7.0f));

  Container::write(folder / "b.h5", "checkpoint", small_body());
  CHECK(read_file(folder / "b.h5") == file);
}

/// What a program writes to its standard output.
std::string output_of(const std::string& command, const test::TemporaryFolder& folder) {
  const std::filesystem::path file = folder / "output";
  if (std::system((command + " > '" + file.string() + "' 2> /dev/null").c_str()) != 0) return "failed";
  return read_file(file);
}

TEST_CASE("container: h5ls and h5dump read the file, where they are installed") {
  const test::TemporaryFolder folder;
  if (output_of("h5ls --version", folder) == "failed") {
    MESSAGE("skipped: h5ls and h5dump (Debian: hdf5-tools) are not installed");
    return;
  }
  const std::string path = (folder / "a.h5").string();
  Container::write(path, "checkpoint", small_body());
  CHECK(output_of("h5ls -r '" + path + "'", folder).find("/values                  Dataset {1000}") !=
        std::string::npos);
  const std::string attributes = output_of("h5dump -A '" + path + "'", folder);
  CHECK(attributes.find("(0): \"tapeline\"") != attributes.npos);
  CHECK(attributes.find("DATASET \"text\"") != attributes.npos);
}

TEST_CASE("container: a truncated file is refused in one line") {
  const test::TemporaryFolder folder;
  const std::filesystem::path whole = folder / "whole.h5";
  Container::write(whole, "checkpoint", small_body());
  const std::string file = read_file(whole);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{96}, std::size_t{511},
                                 std::size_t{512}, file.size() / 2, file.size() - 1}) {
    CAPTURE(size);
    CHECK(how_refused(folder.write("cut.h5", file.substr(0, size))) == "");
  }
  CHECK(how_refused(folder.write("long.h5", file + "x")) == "");
}

TEST_CASE("container: every one of 300 flipped bytes is found") {
  const test::TemporaryFolder folder;
  const std::filesystem::path whole = folder / "whole.h5";
  Container::write(whole, "checkpoint", small_body());
  const std::string file = read_file(whole);
  const RandomKey key = random_key(0, "flips");
  for (std::uint64_t flip = 0; flip < 300; ++flip) {
    // A third of them in the head.
    const std::uint64_t at = random_below(key, 3 * flip, flip % 3 == 0 ? 512 : file.size());
    std::string damaged = file;
    damaged[at] =
        static_cast<char>(damaged[at] ^ static_cast<char>(1 + random_below(key, 3 * flip + 1, 255)));
    CAPTURE(at);
    CHECK(how_refused(folder.write("damaged.h5", damaged)) == "");
  }
}

TEST_CASE("container: other files are refused by name and reason") {
  const test::TemporaryFolder folder;
  const std::string foreign = folder.write("foreign.h5", small_body());
  CHECK_THROWS_WITH_AS(
      Container::open(foreign, "checkpoint"),
      ("\"" + foreign + "\" is not a tapeline checkpoint: it does not begin with \"tapeline checkpoint\"")
          .c_str(),
      FileError);
  CHECK_FALSE(Container::kind_of(foreign).has_value());

  const std::string tokens = (folder / "tokens.h5").string();
  Container::write(tokens, "tokens", small_body());
  CHECK_THROWS_WITH_AS(
      Container::open(tokens, "checkpoint"),
      ("\"" + tokens + "\" is a tapeline file of the kind \"tokens\"; a \"checkpoint\" was expected").c_str(),
      FileError);

  std::string newer = read_file(tokens);
  newer.replace(newer.find("format 1"), 8, "format 2");
  CHECK_THROWS_WITH_AS(
      Container::open(folder.write("newer.h5", newer), "tokens"),
      ("\"" + (folder / "newer.h5").string() + "\" has format version 2; this program reads version 1")
          .c_str(),
      FileError);

  CHECK(how_refused((folder / "nowhere.h5").string()) == "");
  CHECK(how_refused(folder.path().string()) == "");
  CHECK_FALSE(Container::kind_of(folder / "nowhere.h5").has_value());
}

TEST_CASE("container: a file is read from a folder without write permission, beside another reader") {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "a.h5";
  Container::write(path, "checkpoint", small_body());
  ::chmod(path.c_str(), 0400);
  ::chmod(folder.path().c_str(), 0500);
  {
    const Hdf5Reader first = Hdf5Reader::open(path, "checkpoint");
    const Hdf5Reader second = Hdf5Reader::open(path, "checkpoint");
    CHECK(first.numbers<float>("/values") == second.numbers<float>("/values"));
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  }
  ::chmod(folder.path().c_str(), 0700);
}

TEST_CASE("container: a save under a file-size limit fails in one line and leaves the old file") {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "a.h5";
  Container::write(path, "checkpoint", small_body(1));
  const std::string before = read_file(path);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit tight{2048, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &tight);
  std::string error;
  try {
    Container::write(path, "checkpoint", small_body(2));
  } catch (const FileError& caught) {
    error = caught.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  CHECK(error.find(path.string()) != error.npos);
  CHECK(error.find('\n') == error.npos);
  CHECK(read_file(path) == before);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

}  // namespace
}  // namespace tapeline

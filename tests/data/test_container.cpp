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

constexpr Container::Access held = Container::Access::held, streamed = Container::Access::streamed;

/// Nothing if the file is refused as it should be, held and streamed alike: FileError, one line, the file's
/// name in it.
std::string how_refused(const std::string& path) {
  std::string texts[2];
  for (const Container::Access access : {held, streamed}) {
    try {
      const Hdf5Reader reader = Hdf5Reader::open(path, "checkpoint", access);
      return "was read";
    } catch (const FileError& error) {
      const std::string text = error.what();
      if (text.find('\n') != text.npos) return "more than one line: " + text;
      if (text.find(path) == text.npos) return "not named: " + text;
      texts[access == streamed ? 1 : 0] = text;
    }
  }
  return texts[0] == texts[1] ? "" : texts[0] + " / " + texts[1];
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

TEST_CASE("container: streamed, a file reads as it does when it is held") {
  const test::TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  Hdf5Writer writer;
  writer.attribute("/", "format", std::string("tapeline"));
  std::vector<float> values(24 * 1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 7;
  writer.numbers("/values", std::span<const float>(values), {4, 6, 1000});
  writer.numbers("/wide", std::vector<double>{0.1, 1e300});
  writer.number("/scalar", std::int64_t{-5});
  writer.text("/text", std::string(3000, 'x'));
  Container::write(path, "checkpoint", writer.finish());

  const Hdf5Reader reader = Hdf5Reader::open(path, "checkpoint", streamed);
  const Hdf5Reader beside = Hdf5Reader::open(path, "checkpoint", streamed);
  const Hdf5Reader whole = Hdf5Reader::open(path, "checkpoint", held);
  for (const Hdf5Reader* one : {&reader, &beside, &whole}) {
    CHECK(one->label("/", "format") == "tapeline");
    CHECK(one->numbers<float>("/values") == values);
    CHECK(one->text("/text") == std::string(3000, 'x'));
    CHECK(one->number<std::int64_t>("/scalar") == -5);
    CHECK(one->datasets("/") == std::vector<std::string>{"/values", "/wide", "/scalar", "/text"});

    std::vector<float> part(2 * 3 * 2);
    one->read_part("/values", Slab{{{1, 2, 2}, {0, 3, 1}, {5, 2, 900}}}, std::span<float>(part));
    CHECK(part[0] == values[1 * 6000 + 0 * 1000 + 5]);
    CHECK(part[1] == values[1 * 6000 + 0 * 1000 + 905]);
    CHECK(part[11] == values[3 * 6000 + 2 * 1000 + 905]);
    std::vector<double> widened(2);
    one->read_part("/values", Slab{{{0, 1, 1}, {0, 1, 1}, {1, 2, 1}}}, std::span<double>(widened));
    CHECK(widened[0] == static_cast<double>(values[1]));
    double scalar = 0;
    one->read_part("/scalar", Slab{}, std::span<double>(&scalar, 1));
    CHECK(scalar == -5);

    CHECK_THROWS_AS(one->read_part("/wide", Slab::whole({2}), std::span<float>(part).first(2)), FileError);
    CHECK_THROWS_AS(one->read_part("/wide", Slab::whole({3}), std::span<double>(widened)), FileError);
    CHECK_THROWS_AS(one->read_part("/wide", Slab::whole({1}), std::span<double>(widened)), StateError);
  }
  CHECK(whole.raw("/values").size() == 4 * values.size());
  CHECK_THROWS_AS(reader.raw("/values"), StateError);
}

TEST_CASE("container: a streamed file replaced under its name is read to its end as it was") {
  const test::TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  Container::write(path, "checkpoint", small_body(7));
  const Hdf5Reader reader = Hdf5Reader::open(path, "checkpoint", streamed);
  Container::write(path, "checkpoint", small_body(8));
  CHECK(reader.numbers<float>("/values") == std::vector<float>(1000, 7.0f));
  std::filesystem::remove(path);
  CHECK(reader.text("/text") == std::string(3000, 'x'));
}

TEST_CASE("container: unverified, a head is believed and a changed body is not looked at") {
  const test::TemporaryFolder folder;
  const std::string path = (folder / "a.h5").string();
  Container::write(path, "checkpoint", small_body());
  std::string file = read_file(path);
  file.back() = static_cast<char>(file.back() ^ 1);
  const std::string damaged = folder.write("damaged.h5", file);
  CHECK_THROWS_AS(Container::open(damaged, "checkpoint", streamed), FileError);
  CHECK(Container::open_unverified(damaged, "checkpoint")->size() == static_cast<Index>(file.size()) - 512);
  CHECK_THROWS_AS(Container::open_unverified(folder.write("short.h5", file + "x"), "checkpoint"), FileError);
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

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "core/error.h"
#include "core/files.h"
#include "core/sha256.h"
#include "data/container.h"
#include "data/corpus.h"
#include "data/kjv.h"
#include "data/source.h"
#include "tests/support/surroundings.h"
#include "tests/support/temporary_folder.h"

namespace tapeline {
namespace {

/// Whether the King James Bible is installed; says so if not.
bool has_kjv() {
  for (const char* folder : {"/usr/bin/", "/usr/games/", "/usr/local/bin/"})
    if (::access((std::string(folder) + "bible").c_str(), X_OK) == 0) return true;
  MESSAGE("skipped: the program `bible` (Debian: bible-kjv, bible-kjv-text) is not installed");
  return false;
}

TEST_CASE("source: a file, byte for byte") {
  const test::TemporaryFolder folder;
  const auto tokenizer = make_tokenizer("bytes");
  for (const std::string& content :
       {std::string("one\ntwo\n"), std::string("one\r\ntwo\r\n"), std::string("one\rtwo\r"),
        std::string("\xef\xbb\xbf"
                    "abc\n"),
        std::string("a\0b\x92", 4)}) {
    const std::string path = folder.write("text", content);
    CHECK(read_source(path) == content);
    const test::Environment no_cache("XDG_CACHE_HOME", (folder / "cache").string());
    CHECK(load_corpus(path, *tokenizer).size() == static_cast<Index>(content.size()));
  }
}

TEST_CASE("source: a folder in the order of its paths, without hidden files and data") {
  const test::TemporaryFolder folder;
  folder.write("b.txt", "second");
  folder.write("a/z.txt", "first\n");
  folder.write("c/d/deep", "third");
  folder.write(".hidden", "no");
  folder.write(".git/config", "no");
  folder.write("c/.secret/x", "no");
  folder.write("image.png", std::string_view("PNG\0no", 6));
  CHECK(read_source(folder.path().string()) == "first\n\nsecond\nthird");
  const test::TemporaryFolder empty;
  CHECK_THROWS_AS(read_source(empty.path().string()), DataError);
}

TEST_CASE("source: standard input, to its end") {
  {
    const test::StandardInput input("from a pipe\r\n");
    CHECK(read_source("-") == "from a pipe\r\n");
  }
  const test::StandardInput nothing("");
  CHECK_THROWS_WITH_AS(read_source("-"), "the text of standard input is empty", DataError);
}

TEST_CASE("source: a named pipe") {
  const test::TemporaryFolder folder;
  const std::string path = (folder / "pipe").string();
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] { folder.write("pipe", "through a pipe"); });
  CHECK(read_source(path) == "through a pipe");
  writer.join();
}

TEST_CASE("source: several, joined in order") {
  const test::TemporaryFolder folder;
  const std::vector<std::string> sources = {folder.write("b", "two"), folder.write("a", "one")};
  CHECK(read_sources(sources) == "two\none");
}

TEST_CASE("source: what is not there, or is no text, is refused") {
  const test::TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(
      read_source("no/such text"),
      "there is no text \"no/such text\": no such file or folder; give a file, a folder, \"-\" for "
      "standard input, or a corpus by name (kjv)",
      FileError);
  const std::string empty = folder.write("empty", "");
  CHECK_THROWS_WITH_AS(read_source(empty), ("the text of \"" + empty + "\" is empty").c_str(), DataError);
  const std::string store = (folder / "store.h5").string();
  TokenStore::from_text("abc", *make_tokenizer("bytes"), "x").save(store);
  CHECK_THROWS_AS(read_source(store), DataError);
}

TEST_CASE("source: a folder with a file that cannot be read is refused by that file's name") {
  const test::TemporaryFolder folder;
  folder.write("a.txt", "text");
  const auto refusal = [&] {
    try {
      read_source(folder.path().string());
    } catch (const FileError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  std::filesystem::create_symlink("a.txt", folder / "link.txt");
  std::filesystem::create_symlink("nowhere", folder / ".#lock");  // hidden: an editor's
  CHECK(refusal().empty());
  CHECK(read_source(folder.path().string()) == "text\ntext");
  std::filesystem::create_directory(folder / "below");
  std::filesystem::create_symlink("nowhere", folder / "below/broken.txt");
  CHECK(refusal().find("below/broken.txt\": it is a link that leads to no file") != std::string::npos);
  std::filesystem::remove(folder / "below/broken.txt");
  std::filesystem::create_symlink("loop.txt", folder / "loop.txt");
  CHECK(refusal().find("loop.txt\": ") != std::string::npos);
}

TEST_CASE("source: files of ours and of HDF5 are no texts, wherever they come from") {
  const test::TemporaryFolder folder;
  const std::string hdf5 = "\x89HDF\r\n\x1a\n and more";
  const std::string checkpoint = (folder / "checkpoint.h5").string();
  Container::write(checkpoint, "checkpoint", hdf5);
  const std::string plain = folder.write("plain.h5", hdf5);
  const std::string blocked = folder.write("blocked.h5", std::string(512, ' ') + hdf5);
  const auto refusal = [](const std::string& source) {
    try {
      load_corpus(source, *make_tokenizer("bytes"));
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal(checkpoint) ==
        "\"" + checkpoint + "\" is a tapeline checkpoint, not a text; give the text itself");
  for (const std::string& path : {plain, blocked}) {
    CHECK(refusal(path).starts_with("\"" + path + "\" is an HDF5 file"));
  }
  const test::StandardInput input(read_file(checkpoint));
  CHECK(refusal("-").starts_with("standard input is a tapeline checkpoint"));
  // A text about the tool is a text.
  const test::Environment no_cache("XDG_CACHE_HOME", (folder / "cache").string());
  CHECK(refusal(folder.write("about.txt", "tapeline checkpoint\nis what we speak of")).empty());
}

TEST_CASE("kjv: references are stripped up to the first blank") {
  CHECK(strip_references("Ge1:1 In the beginning\nGe1:2 And the earth\n") ==
        "In the beginning\nAnd the earth\n");
  CHECK(strip_references("Re22:21 Amen.") == "Amen.");
  CHECK(strip_references("").empty());
}

TEST_CASE("kjv: 31102 verses without references") {
  if (!has_kjv()) return;
  const std::string text = read_source("kjv");
  CHECK(std::count(text.begin(), text.end(), '\n') == 31'102);
  CHECK(text.size() > 4'100'000);
  CHECK(text.size() < 4'180'000);
  CHECK(text.starts_with("In the beginning God created the heaven and the earth.\nAnd the earth was"));
  CHECK(text.ends_with("Amen.\n"));
}

TEST_CASE("kjv: without the program the message names the packages") {
  const test::Environment path("PATH", "");
  std::string message;
  try {
    read_kjv();
  } catch (const FileError& error) {
    message = error.what();
  }
  CHECK(message.find("bible-kjv bible-kjv-text") != message.npos);
  CHECK(message.find('\n') == message.npos);
}

TEST_CASE("kjv: a program that writes something else is not believed") {
  const test::TemporaryFolder folder;
  const std::string program = folder.write("bible", "#!/bin/sh\necho 'Ge1:1 In the beginning'\n");
  ::chmod(program.c_str(), 0755);
  const test::Environment path("PATH", folder.path().string());
  std::string message;
  try {
    read_kjv();
  } catch (const FileError& error) {
    message = error.what();
  }
  CHECK(message.find("wrote 1 verses") != message.npos);
  CHECK(message.find("bible-kjv-text") != message.npos);
}

}  // namespace
}  // namespace tapeline

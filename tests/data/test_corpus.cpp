#include <doctest/doctest.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/files.h"
#include "core/sha256.h"
#include "data/corpus.h"
#include "tests/support/surroundings.h"
#include "tests/support/temporary_folder.h"

namespace tapeline {
namespace {

/// "bytes" under another name: another digest.
class OtherTokenizer : public Tokenizer {
 public:
  std::string_view kind() const override { return "other"; }
  Index size() const override { return 300; }
  std::vector<Token> encode(std::string_view text, UnknownSymbols) const override {
    return std::vector<Token>(text.size(), 299);
  }
  std::string decode(const std::vector<Token>&) const override { return {}; }
  Index byte_count(Token) const override { return 1; }
  std::string digest() const override { return sha256_hex("other"); }
};

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

TEST_CASE("corpus: a text is prepared once, by its content, and known by its present name") {
  const test::TemporaryFolder folder;
  const test::Environment cache("XDG_CACHE_HOME", (folder / "cache").string());
  const auto tokenizer = make_tokenizer("bytes");
  const std::string first = folder.write("first.txt", "the same text");
  const std::string second = folder.write("second.txt", "the same text");
  const std::string third = folder.write("third.txt", "another text");
  const TokenStore made = load_corpus(first, *tokenizer);
  REQUIRE(files_in(folder / "cache/tapeline").size() == 1);
  const TokenStore kept = load_corpus(second, *tokenizer);
  CHECK(files_in(folder / "cache/tapeline").size() == 1);
  CHECK(made.source() == first);
  CHECK(kept.source() == second);
  CHECK(made.digest() == kept.digest());
  CHECK(load_corpus(third, *tokenizer).digest() != kept.digest());
  CHECK(load_corpus(first, OtherTokenizer()).vocabulary() == 300);
  CHECK(files_in(folder / "cache/tapeline").size() == 3);
}

TEST_CASE("corpus: a damaged cache is made again") {
  const test::TemporaryFolder folder;
  const test::Environment cache("XDG_CACHE_HOME", (folder / "cache").string());
  const auto tokenizer = make_tokenizer("bytes");
  const std::string text = folder.write("text", "some text");
  load_corpus(text, *tokenizer);
  const std::filesystem::path kept = files_in(folder / "cache/tapeline").front();
  const std::string whole = read_file(kept);
  for (const std::size_t size : {std::size_t{0}, std::size_t{600}, whole.size() - 1}) {
    write_file(kept, whole.substr(0, size));
    CHECK(load_corpus(text, *tokenizer).size() == 9);
    CHECK(read_file(kept) == whole);
  }
}

TEST_CASE("corpus: without a cache folder the work is done all the same") {
  const test::TemporaryFolder folder;
  const auto tokenizer = make_tokenizer("bytes");
  const std::string text = folder.write("text", "some text");
  {
    const test::Environment cache("XDG_CACHE_HOME", text);  // no folder can be made there
    CHECK(load_corpus(text, *tokenizer).size() == 9);
  }
  const test::Environment cache("XDG_CACHE_HOME", "relative");
  const test::Environment home("HOME", std::nullopt);
  CHECK_FALSE(cache_folder().has_value());
  CHECK(load_corpus(text, *tokenizer).size() == 9);
}

TEST_CASE("corpus: where the cache is") {
  const test::Environment home("HOME", "/home/someone");
  {
    const test::Environment cache("XDG_CACHE_HOME", "/somewhere");
    CHECK(cache_folder() == "/somewhere/tapeline");
  }
  const test::Environment cache("XDG_CACHE_HOME", std::nullopt);
  CHECK(cache_folder() == "/home/someone/.cache/tapeline");
}

TEST_CASE("corpus: a token store is taken as it is, of the same tokenizer only") {
  const test::TemporaryFolder folder;
  const test::Environment cache("XDG_CACHE_HOME", (folder / "cache").string());
  const auto tokenizer = make_tokenizer("bytes");
  const std::string path = (folder / "store.h5").string();
  TokenStore::from_text("some text", *tokenizer, "elsewhere").save(path);
  const TokenStore store = load_corpus(path, *tokenizer);
  CHECK(store.size() == 9);
  CHECK(store.source() == "elsewhere");
  CHECK_FALSE(std::filesystem::exists(folder / "cache"));
  CHECK_THROWS_AS(load_corpus(path, OtherTokenizer()), DataError);
}

TEST_CASE("corpus: kjv comes from the cache the second time, without its program") {
  const test::TemporaryFolder folder;
  const test::Environment cache("XDG_CACHE_HOME", (folder / "cache").string());
  // A bible of our own making: 31,102 verses.
  const std::string program =
      folder.write("bin/bible", "#!/bin/sh\nexec /usr/bin/seq -f 'Ge1:%g and it came to pass' 31102\n");
  ::chmod(program.c_str(), 0755);
  const auto tokenizer = make_tokenizer("bytes");
  std::string digest;
  {
    const test::Environment path("PATH", (folder / "bin").string());
    const TokenStore store = load_corpus("kjv", *tokenizer);
    CHECK(store.source() == "kjv");
    CHECK(store.size() == 31'102 * 20);
    digest = store.digest();
  }
  const test::Environment path("PATH", "");
  CHECK(load_corpus("kjv", *tokenizer).digest() == digest);
  const test::Environment no_cache("XDG_CACHE_HOME", (folder / "other").string());
  CHECK_THROWS_AS(load_corpus("kjv", *tokenizer), FileError);
}

}  // namespace
}  // namespace tapeline

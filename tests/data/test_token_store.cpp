#include <doctest/doctest.h>

#include "core/error.h"
#include "core/files.h"
#include "core/sha256.h"
#include "data/hdf5_reader.h"
#include "data/token_store.h"
#include "tests/support/temporary_folder.h"

namespace tapeline {
namespace {

/// A vocabulary of any size: two letters of text make one token.
class PairTokenizer : public Tokenizer {
 public:
  explicit PairTokenizer(Index size) : size_(size) {}
  std::string_view kind() const override { return "pairs"; }
  Index size() const override { return size_; }
  std::vector<Token> encode(std::string_view text, UnknownSymbols) const override {
    std::vector<Token> tokens;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
      tokens.push_back(static_cast<Token>((text[i] * 1009 + text[i + 1] * 7919) % size_));
    return tokens;
  }
  std::string decode(const std::vector<Token>&) const override { return {}; }
  Index byte_count(Token) const override { return 2; }
  std::string digest() const override { return sha256_hex("pairs" + std::to_string(size_)); }

 private:
  Index size_;
};

std::vector<Token> all_of(const TokenStore& store) {
  std::vector<Token> tokens(static_cast<std::size_t>(store.size()));
  store.read(0, tokens);
  return tokens;
}

std::string some_text(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(' ' + (i * i + i / 97) % 90));
  return text;
}

TEST_CASE("token store: saved and opened, at every width of token") {
  const test::TemporaryFolder folder;
  const std::string text = some_text(20'001);
  for (const Index vocabulary : {2, 256, 257, 65'536, 65'537, 500'000}) {
    CAPTURE(vocabulary);
    const PairTokenizer tokenizer(vocabulary);
    const TokenStore made = TokenStore::from_text(text, tokenizer, "some/where é");
    const std::filesystem::path path = folder / "tokens.h5";
    made.save(path);
    CHECK(TokenStore::is_store(path));
    const TokenStore opened = TokenStore::open(path);
    CHECK(opened.size() == 10'000);
    CHECK(all_of(made) == tokenizer.encode(text, UnknownSymbols::refuse));
    CHECK(all_of(opened) == tokenizer.encode(text, UnknownSymbols::refuse));
    CHECK(opened.source() == "some/where é");
    CHECK(opened.vocabulary() == vocabulary);
    CHECK(opened.tokenizer_kind() == "pairs");
    CHECK(opened.tokenizer_digest() == tokenizer.digest());
    CHECK(opened.digest() == made.digest());
    const NumberType type = vocabulary <= 256     ? NumberType::u8
                            : vocabulary <= 65536 ? NumberType::u16
                                                  : NumberType::i32;
    CHECK(Hdf5Reader::open(path, "tokens").shape("/tokens").type == type);
  }
}

TEST_CASE("token store: bytes; the digest is that of the bytes") {
  const auto tokenizer = make_tokenizer("bytes");
  const std::string text = some_text(3 << 20);  // more than one piece
  const TokenStore store = TokenStore::from_text(text, *tokenizer, "x");
  CHECK(store.size() == static_cast<Index>(text.size()));
  CHECK(store.digest() == sha256_hex(text));
  CHECK(all_of(store) == tokenizer->encode(text));
}

TEST_CASE("token store: a large file is mapped, and reads the same") {
  const test::TemporaryFolder folder;
  const std::string text = some_text(40 << 20);
  const TokenStore made = TokenStore::from_text(text, *make_tokenizer("bytes"), "large");
  made.save(folder / "large.h5");
  const TokenStore opened = TokenStore::open(folder / "large.h5");
  CHECK(opened.digest() == sha256_hex(text));
  std::vector<Token> tokens(1000);
  for (const Index begin : {Index{0}, Index{12'345'678}, opened.size() - 1000}) {
    opened.read(begin, tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      CHECK_UNARY(tokens[i] == text[static_cast<std::size_t>(begin) + i]);
  }
}

TEST_CASE("token store: equal text gives an equal file") {
  const test::TemporaryFolder folder;
  const auto tokenizer = make_tokenizer("bytes");
  TokenStore::from_text("some text", *tokenizer, "x").save(folder / "a.h5");
  TokenStore::from_text("some text", *tokenizer, "x").save(folder / "b.h5");
  CHECK(read_file(folder / "a.h5") == read_file(folder / "b.h5"));
}

TEST_CASE("token store: reading outside is refused") {
  const TokenStore store = TokenStore::from_text("0123456789", *make_tokenizer("bytes"), "digits");
  std::vector<Token> tokens(4);
  store.read(6, tokens);
  CHECK(tokens == std::vector<Token>{'6', '7', '8', '9'});
  CHECK_THROWS_WITH_AS(store.read(7, tokens), "tokens [7, 11) cannot be read: the text has 10", ShapeError);
  CHECK_THROWS_AS(store.read(-1, tokens), ShapeError);
  store.read(10, std::span<Token>());
}

TEST_CASE("token store: damage and other files are refused") {
  const test::TemporaryFolder folder;
  TokenStore::from_text("some text", *make_tokenizer("bytes"), "x").save(folder / "a.h5");
  std::string file = read_file(folder / "a.h5");
  file[file.find("some text")] ^= 1;
  const std::string damaged = folder.write("damaged.h5", file);
  CHECK(TokenStore::is_store(damaged));
  CHECK_THROWS_AS(TokenStore::open(damaged), FileError);
  const std::string text = folder.write("text.txt", "tapeline tokens are not what this is");
  CHECK_FALSE(TokenStore::is_store(text));
  CHECK_THROWS_AS(TokenStore::open(text), FileError);
  CHECK_FALSE(TokenStore::is_store(folder.path()));
}

}  // namespace
}  // namespace tapeline

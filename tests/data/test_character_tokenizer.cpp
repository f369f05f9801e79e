#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "core/error.h"
#include "core/utf8.h"
#include "data/character_tokenizer.h"
#include "data/corpus.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text.h"

namespace tapeline {
namespace {

const std::vector<std::int32_t> abc = {'a', 'b', 'c'};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}
using test::contains;

TEST_CASE("chars: characters by code point, line ends as they are, four tokens for what is not known") {
  const auto tokenizer = make_tokenizer("chars", std::vector<std::int32_t>{'\n', '\r', 'a', 0xF6, 0x1F600});
  CHECK(tokenizer->kind() == "chars");
  CHECK(tokenizer->size() == 9);
  const std::string text =
      "a\r\n\xC3\xB6\xF0\x9F\x98\x80"
      "a\n";
  const std::vector<Token> tokens = tokenizer->encode(text);
  CHECK(tokens == std::vector<Token>{2, 1, 0, 3, 4, 2, 0});
  CHECK(tokenizer->decode(tokens) == text);
  Index bytes = 0;
  for (const Token token : tokens) bytes += tokenizer->byte_count(token);
  CHECK(bytes == static_cast<Index>(text.size()));
  CHECK_THROWS_AS(tokenizer->decode({9}), DataError);
  CHECK_THROWS_AS(tokenizer->decode({-1}), DataError);
  CHECK(tokenizer->encode("").empty());
}

TEST_CASE("chars: an unknown symbol is refused by name and place, or is a token of its own, never another") {
  const auto tokenizer = make_tokenizer("chars", abc);
  CHECK(error_of([&] { tokenizer->encode("z"); }) ==
        "the text has \"z\" (U+007A) (the first at offset 0), not among the 3 characters that the model was "
        "trained on");
  const std::string error = error_of([&] { tokenizer->encode("abdabd\xC3\xB6\x07"); });
  for (const char* part : {"\"d\" (U+0064)", "\"\xC3\xB6\" (U+00F6)", "U+0007", "offset 2"})
    CHECK(contains(error, part));

  // One byte, two, three and four: bytes are counted exactly, and nothing is claimed but that it is unknown.
  const std::string text = "a!\xC3\xB6\xE2\x82\xAC\xF0\x9F\x98\x80";
  const std::vector<Token> tokens = tokenizer->encode(text, UnknownSymbols::as_token);
  CHECK(tokens == std::vector<Token>{0, 3, 4, 5, 6});
  Index bytes = 0;
  for (const Token token : tokens) bytes += tokenizer->byte_count(token);
  CHECK(bytes == static_cast<Index>(text.size()));
  const std::string unknown = "\xEF\xBF\xBD";
  CHECK(tokenizer->decode(tokens) == "a" + unknown + unknown + unknown + unknown);
  CHECK_FALSE(tokenizer->is_unknown(2));
  CHECK(tokenizer->is_unknown(3));
}

TEST_CASE("chars: what an unknown token leaves open is counted: all characters together are exactly all") {
  const auto tokenizer = make_tokenizer("chars", std::vector<std::int32_t>{'a', 0xF6, 0xF7, 0x20AC});
  std::map<int, Index> unknown;  // by bytes, counted one by one
  for (std::int32_t code = 0; code <= 0x10FFFF; ++code) {
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    const bool known = code == 'a' || code == 0xF6 || code == 0xF7 || code == 0x20AC;
    if (!surrogate && !known && code != 0xFEFF) ++unknown[utf8_length(static_cast<char32_t>(code))];
  }
  for (int bytes = 1; bytes <= 4; ++bytes) {
    CHECK(tokenizer->open_nats(3 + bytes) ==
          doctest::Approx(std::log(static_cast<double>(unknown[bytes]))).epsilon(1e-14));
    CHECK(tokenizer->byte_count(3 + bytes) == bytes);
  }
  CHECK(tokenizer->open_nats(0) == 0);
}

TEST_CASE("chars: a bad byte is located, a byte-order mark is no character") {
  std::string text(7047, 'x');
  CHECK(contains(error_of([&] { characters_of(text + "\x92 and on"); }), "0x92 at offset 7047"));
  CHECK(contains(error_of([&] { characters_of("ab\xE2\x82"); }), "0xE2 at offset 2"));
  CHECK(characters_of("\xEF\xBB\xBF"
                      "abc\n") == std::vector<std::int32_t>{'a', 'b', 'c', '\n'});
  CHECK(characters_of("a\n\xEF\xBB\xBF"
                      "b") == std::vector<std::int32_t>{'a', '\n', 'b'});
  CHECK(make_tokenizer("chars", abc)
            ->encode("\xEF\xBB\xBF"
                     "abc")
            .size() == 3);
}

TEST_CASE("chars: the digest is that of the content, not of the size") {
  const auto digest = [](std::vector<std::int32_t> table) {
    return make_tokenizer("chars", table)->digest();
  };
  CHECK(digest({'a', 'b', 'c'}) == digest({'a', 'b', 'c'}));
  CHECK(digest({'a', 'b', 'c'}) != digest({'a', 'b', 'd'}));
  CHECK(digest({'a', 'b', 'c'}) != make_tokenizer("bytes")->digest());
  const auto text_digest = [](const std::string& text, std::vector<std::int32_t> table) {
    return TokenStore::from_text(text, *make_tokenizer("chars", table), "text").digest();
  };
  CHECK(text_digest("abc", {'a', 'b', 'c'}) != text_digest("abd", {'a', 'b', 'd'}));
}

TEST_CASE("chars: a table that cannot be one is refused") {
  for (const std::vector<std::int32_t>& table :
       {std::vector<std::int32_t>{'b', 'a'}, {'a', 'a'}, {-1}, {0xD800}, {0x110000}, {0xFEFF}}) {
    CHECK_THROWS_AS(make_tokenizer("chars", table), DataError);
  }
  CHECK_THROWS_AS(make_tokenizer("chars"), ConfigError);
}

// Blocks of 4 characters; the second is held back.
Splits every_other(Index tokens) {
  Splits splits;
  splits.block = 4;
  for (Index begin = 0; begin + 4 <= tokens; begin += 4)
    (begin == 4 ? splits.validation : splits.train).push_back({begin, 4});
  return splits;
}

TEST_CASE("chars: the vocabulary is that of the blocks to train on, and of no other") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("text",
                                        "abca"
                                        "ab\xC3\xB6z"
                                        "cabb");
  const Corpus corpus = load_corpus(path, "chars", every_other);
  CHECK(corpus.tokenizer->table() == abc);
  CHECK(corpus.unknown == "\"z\" (U+007A), \"\xC3\xB6\" (U+00F6)");
  std::vector<Token> tokens(static_cast<std::size_t>(corpus.store.size()));
  corpus.store.read(0, tokens);
  CHECK(tokens == std::vector<Token>{0, 1, 2, 0, 0, 1, 4, 3, 2, 0, 1, 1});
  CHECK(load_corpus(folder.write("plain", "abcaabbacabb"), "chars", every_other).unknown.empty());

  // With a checkpoint's vocabulary: the blocks to train on must hold nothing new.
  CHECK(load_corpus(path, "chars", every_other, make_tokenizer("chars", abc)).tokenizer->table() == abc);
  const std::string other = folder.write("other",
                                         "abda"
                                         "abzz"
                                         "cabe");
  const std::string error =
      error_of([&] { load_corpus(other, "chars", every_other, make_tokenizer("chars", abc)); });
  CHECK(contains(error, "\"d\" (U+0064), \"e\" (U+0065)"));
  CHECK_FALSE(contains(error, "\"z\""));
}

TEST_CASE("chars: another text is refused by the symbols that are new in it; a token store has none") {
  const test::TemporaryFolder folder;
  const auto tokenizer = make_tokenizer("chars", abc);
  CHECK(load_corpus(folder.write("same", "abcabc"), *tokenizer).size() == 6);
  CHECK(contains(error_of([&] { load_corpus(folder.write("other", "abdabd"), *tokenizer); }),
                 "\"d\" (U+0064)"));
  const std::string store = (folder / "store.h5").string();
  TokenStore::from_text("abc", *make_tokenizer("bytes"), "x").save(store);
  CHECK_THROWS_AS(load_corpus(store, *tokenizer), DataError);
  CHECK_THROWS_AS(load_corpus(store, "chars", every_other), DataError);
}

TEST_CASE("chars: 30,000 characters are a vocabulary like any other") {
  std::vector<std::int32_t> many;
  std::string text;
  for (std::int32_t code = 0x4E00; many.size() < 30000; ++code) {
    if (code == 0xD800) code = 0x20000;
    many.push_back(code);
    append_utf8(text, static_cast<char32_t>(code));
  }
  const auto tokenizer = make_tokenizer("chars", many);
  const TokenStore store = TokenStore::from_text(text, *tokenizer, "many");
  CHECK(store.vocabulary() == 30004);
  std::vector<Token> tokens(30000);
  store.read(0, tokens);
  CHECK(tokens.back() == 29999);
  CHECK(tokenizer->decode(tokens) == text);
}

}  // namespace
}  // namespace tapeline

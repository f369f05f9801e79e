#include <doctest/doctest.h>

#include "core/error.h"
#include "data/tokenizer.h"

namespace tapeline {
namespace {

TEST_CASE("bytes: every byte is a token, and back") {
  const auto tokenizer = make_tokenizer("bytes");
  CHECK(tokenizer->kind() == "bytes");
  CHECK(tokenizer->size() == 256);
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  const std::vector<Token> tokens = tokenizer->encode(all);
  REQUIRE(tokens.size() == 256);
  for (Token token = 0; token < 256; ++token) {
    CHECK(tokens[static_cast<std::size_t>(token)] == token);
    CHECK(tokenizer->byte_count(token) == 1);
  }
  CHECK(tokenizer->decode(tokens) == all);
  CHECK_THROWS_AS(tokenizer->decode({256}), DataError);
  CHECK_THROWS_AS(tokenizer->decode({-1}), DataError);
}

TEST_CASE("bytes: line ends, a byte-order mark and bad UTF-8 are bytes like any other") {
  const auto tokenizer = make_tokenizer("bytes");
  CHECK(tokenizer->encode("a\nb\n").size() == 4);
  CHECK(tokenizer->encode("a\r\nb\r\n").size() == 6);
  CHECK(tokenizer
            ->encode("\xef\xbb\xbf"
                     "abc\n")
            .size() == 7);
  CHECK(tokenizer->encode("\x92") == std::vector<Token>{0x92});
  CHECK(tokenizer->encode("").empty());
}

TEST_CASE("a tokenizer that does not exist is refused by name") {
  CHECK_THROWS_WITH_AS(
      make_tokenizer("words"),
      "data.tokenizer: there is no tokenizer \"words\"; this version has \"bytes\" and \"chars\"",
      ConfigError);
}

}  // namespace
}  // namespace tapeline

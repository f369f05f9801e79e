#include "data/byte_tokenizer.h"

#include "core/error.h"
#include "core/sha256.h"

namespace tapeline {

std::vector<Token> ByteTokenizer::encode(std::string_view text, UnknownSymbols) const {
  std::vector<Token> tokens(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) tokens[i] = static_cast<unsigned char>(text[i]);
  return tokens;
}

std::string ByteTokenizer::decode(const std::vector<Token>& tokens) const {
  std::string text;
  text.reserve(tokens.size());
  for (const Token token : tokens) {
    require<DataError>(token >= 0 && token < 256, "bytes: token {} is no byte; tokens go from 0 to 255",
                       token);
    text.push_back(static_cast<char>(token));
  }
  return text;
}

std::string ByteTokenizer::digest() const { return sha256_hex("tapeline tokenizer: bytes, 256 tokens"); }

}  // namespace tapeline

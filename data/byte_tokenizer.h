#pragma once

#include "data/tokenizer.h"

namespace tapeline {

/// Every byte is a token, 0 to 255, taken as it is: nothing is normalised (CR, LF and a byte-order mark are
/// bytes like any other), nothing is refused, and the text has as many tokens as the file has bytes.
class ByteTokenizer : public Tokenizer {
 public:
  std::string_view kind() const override { return "bytes"; }
  Index size() const override { return 256; }
  std::vector<Token> encode(std::string_view text, UnknownSymbols) const override;
  /// Throws DataError for a token that is no byte.
  std::string decode(const std::vector<Token>& tokens) const override;
  Index byte_count(Token) const override { return 1; }
  bool cuts_anywhere() const override { return true; }
  std::string digest() const override;
};

}  // namespace tapeline

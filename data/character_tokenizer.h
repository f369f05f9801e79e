#pragma once

#include "data/tokenizer.h"

namespace tapeline {

/// The characters of a UTF-8 text, as code points. Line ends stay as they are (CR is a character); a
/// byte-order mark (U+FEFF) is left out, wherever it stands. Throws DataError for a byte that is no UTF-8,
/// with its offset.
std::vector<std::int32_t> characters_of(std::string_view text);

/// `"d" (U+0064), "ö" (U+00F6) and 3 more`, for messages.
std::string name_characters(std::span<const std::int32_t> codes);

/// Every character of a UTF-8 text is a token, 0, 1, ... by code point. Behind them stand four tokens for
/// characters that are not known, by the number of bytes that such a character takes: so bytes are counted
/// exactly, and bits per byte compare with those of any other tokenizer. A known character is never anything
/// but itself; an unknown one decodes to U+FFFD.
class CharacterTokenizer : public Tokenizer {
 public:
  /// Code points in rising order, each once. Throws DataError for anything else, or none.
  explicit CharacterTokenizer(std::vector<std::int32_t> characters);

  std::string_view kind() const override { return "chars"; }
  Index size() const override { return known() + 4; }
  std::vector<Token> encode(std::string_view text, UnknownSymbols unknown) const override;
  std::string decode(const std::vector<Token>& tokens) const override;
  Index byte_count(Token token) const override;
  bool is_unknown(Token token) const override { return token >= known(); }
  double open_nats(Token token) const override;
  bool may_refuse() const override { return true; }
  std::vector<std::int32_t> table() const override { return characters_; }
  std::string digest() const override;

 private:
  Index known() const { return static_cast<Index>(characters_.size()); }
  void check(Token token) const;

  std::vector<std::int32_t> characters_;
  double open_nats_[4];  // by bytes of the unknown character
};

}  // namespace tapeline

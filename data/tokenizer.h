#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// Text to tokens and back. What it is, whole, travels with every token store and checkpoint.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string_view kind() const = 0;  ///< "bytes"
  virtual Index size() const = 0;             ///< how many tokens there are
  virtual std::vector<Token> encode(std::string_view text) const = 0;
  virtual std::string decode(const std::vector<Token>& tokens) const = 0;
  /// How many bytes of text a token stands for (bits per byte).
  virtual Index byte_count(Token token) const = 0;
  /// Whether encoding piece by piece, cut anywhere, gives the same tokens.
  virtual bool cuts_anywhere() const { return false; }
  /// SHA-256, in hex, of what defines it.
  virtual std::string digest() const = 0;
};

/// The tokenizer of that kind. Throws ConfigError for a kind that does not exist.
std::unique_ptr<Tokenizer> make_tokenizer(std::string_view kind);

}  // namespace tapeline

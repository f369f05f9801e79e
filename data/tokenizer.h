#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// What becomes of a symbol that a tokenizer has no token for. It is never turned into another symbol.
enum class UnknownSymbols {
  refuse,    ///< DataError that names it and its place
  as_token,  ///< a token of its own kind: "unknown"
};

/// Text to tokens and back. What it is, whole, travels with every checkpoint.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string_view kind() const = 0;  ///< "bytes", "chars"
  virtual Index size() const = 0;             ///< how many tokens there are
  /// Throws DataError for what it cannot read at all, with the offset.
  virtual std::vector<Token> encode(std::string_view text,
                                    UnknownSymbols unknown = UnknownSymbols::refuse) const = 0;
  virtual std::string decode(const std::vector<Token>& tokens) const = 0;
  /// How many bytes of text a token stands for (bits per byte).
  virtual Index byte_count(Token token) const = 0;
  /// Whether the token stands for symbols that are not known.
  virtual bool is_unknown(Token) const { return false; }
  /// What a token leaves open, in nats: the logarithm of how many symbols it may stand for. Losses count it,
  /// so that an unknown symbol is never cheaper than one that is known.
  virtual double open_nats(Token) const { return 0; }
  /// Whether there are texts that it has no tokens for.
  virtual bool may_refuse() const { return false; }
  /// Whether encoding piece by piece, cut anywhere, gives the same tokens.
  virtual bool cuts_anywhere() const { return false; }
  /// What it is made from again, besides its kind: the characters of "chars" as code points.
  virtual std::vector<std::int32_t> table() const { return {}; }
  /// SHA-256, in hex, of what defines it.
  virtual std::string digest() const = 0;
};

/// The tokenizer of that kind and table. Throws ConfigError for a kind that does not exist, and for one whose
/// table a text decides when there is none; DataError for a table that cannot be one.
std::unique_ptr<Tokenizer> make_tokenizer(std::string_view kind, std::span<const std::int32_t> table = {});

}  // namespace tapeline

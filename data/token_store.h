#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/index.h"
#include "data/tokenizer.h"

namespace tapeline {

/// A tokenised text: 8, 16 or 32 bits a token by size of the vocabulary, held in memory or mapped from an
/// HDF5 file.
class TokenStore {
 public:
  /// Tokenises `text` into memory.
  static TokenStore from_text(std::string_view text, const Tokenizer& tokenizer, std::string source,
                              UnknownSymbols unknown = UnknownSymbols::refuse);
  /// Opens a file that save() wrote; large ones are mapped. Throws FileError.
  static TokenStore open(const std::filesystem::path& path);
  /// Whether the file looks like a token store.
  static bool is_store(const std::filesystem::path& path);
  /// Writes the store, atomically.
  void save(const std::filesystem::path& path) const;

  TokenStore(TokenStore&&) noexcept;
  TokenStore& operator=(TokenStore&&) noexcept;
  ~TokenStore();

  Index size() const;                                   ///< tokens
  void read(Index begin, std::span<Token> into) const;  ///< tokens [begin, begin + into.size())
  Index vocabulary() const;                             ///< of the tokenizer
  const std::string& source() const;                    ///< what the text was: "kjv", a path
  void set_source(std::string source);                  ///< the same tokens by another name
  const std::string& digest() const;  ///< SHA-256, in hex, of the tokens (and of their vocabulary)
  const std::string& tokenizer_kind() const;
  const std::string& tokenizer_digest() const;

 private:
  struct Contents;
  explicit TokenStore(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace tapeline

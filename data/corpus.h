#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "data/splits.h"
#include "data/token_store.h"
#include "data/tokenizer.h"

namespace tapeline {

/// The tokens of a source: a named corpus, a file, a folder, "-" (standard input), or a token store, which
/// must have been made with the same tokenizer. What had to be read as text is kept as a token store in the
/// cache folder, by digest of text and tokenizer, and a named corpus is then not read again; where nothing
/// can be written there the work is done anew each time. A tokenizer that may refuse a text reads it each
/// time. Throws FileError, DataError.
TokenStore load_corpus(const std::string& source, const Tokenizer& tokenizer,
                       UnknownSymbols unknown = UnknownSymbols::refuse);

/// A text to train on, with its tokenizer and its blocks.
struct Corpus {
  std::unique_ptr<Tokenizer> tokenizer;
  TokenStore store;
  Splits splits;
  /// Which symbols of the blocks held back do not occur in those to train on, for people; mostly empty.
  std::string unknown;
};

/// Cuts a text of that many tokens into blocks.
using SplitRule = std::function<Splits(Index tokens)>;

/// The tokens of a source by a tokenizer of that kind. The vocabulary of "chars" is the characters of the
/// blocks to train on, and of no other; in the blocks held back other characters are unknown tokens. `known`:
/// use this tokenizer instead (that of a checkpoint): the blocks to train on must then hold no character that
/// it does not know. Throws FileError, DataError, ConfigError.
Corpus load_corpus(const std::string& source, std::string_view kind, const SplitRule& split,
                   std::unique_ptr<Tokenizer> known = nullptr);

/// $XDG_CACHE_HOME/tapeline, else ~/.cache/tapeline; nothing where neither is known.
std::optional<std::filesystem::path> cache_folder();

}  // namespace tapeline

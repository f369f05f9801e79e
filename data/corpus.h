#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "data/token_store.h"
#include "data/tokenizer.h"

namespace tapeline {

/// The tokens of a source: a named corpus, a file, a folder, "-" (standard input), or a token store, which
/// must have been made with the same tokenizer. What had to be read as text is kept as a token store in the
/// cache folder, by digest of text and tokenizer, and a named corpus is then not read again; where nothing
/// can be written there the work is done anew each time. Throws FileError, DataError.
TokenStore load_corpus(const std::string& source, const Tokenizer& tokenizer);

/// $XDG_CACHE_HOME/tapeline, else ~/.cache/tapeline; nothing where neither is known.
std::optional<std::filesystem::path> cache_folder();

}  // namespace tapeline

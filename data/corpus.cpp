#include "data/corpus.h"

#include <cstdlib>

#include "core/error.h"
#include "core/excerpt.h"
#include "core/sha256.h"
#include "data/source.h"

namespace tapeline {
namespace {

namespace fs = std::filesystem;

/// A token store in the cache, if it is there, whole, and of this tokenizer.
std::optional<TokenStore> open_cached(const std::optional<fs::path>& path, const Tokenizer& tokenizer) {
  if (!path || !TokenStore::is_store(*path)) return std::nullopt;
  try {
    TokenStore store = TokenStore::open(*path);
    if (store.tokenizer_digest() == tokenizer.digest()) return store;
  } catch (const FileError&) {
    // Damaged: made again.
  }
  return std::nullopt;
}

/// Keeps a store for the next time; a cache that cannot be written is no reason to stop.
void keep(const std::optional<fs::path>& path, const TokenStore& store) {
  if (!path) return;
  try {
    std::error_code ignored;  // saving fails then too
    fs::create_directories(path->parent_path(), ignored);
    store.save(*path);
  } catch (const FileError&) {
  }
}

std::optional<fs::path> cache_path(const std::string& name, const Tokenizer& tokenizer) {
  std::optional<fs::path> folder = cache_folder();
  if (!folder) return std::nullopt;
  return *folder / fmt::format("{}-{}-{}.h5", name, tokenizer.kind(), tokenizer.digest().substr(0, 12));
}

}  // namespace

std::optional<fs::path> cache_folder() {
  // A relative path is to be ignored, says the base directory specification.
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && fs::path(cache).is_absolute()) return fs::path(cache) / "tapeline";
  const char* home = std::getenv("HOME");
  if (home != nullptr && fs::path(home).is_absolute()) return fs::path(home) / ".cache" / "tapeline";
  return std::nullopt;
}

TokenStore load_corpus(const std::string& source, const Tokenizer& tokenizer) {
  const bool named = find_corpus(source) != nullptr;
  if (!named && source != "-" && TokenStore::is_store(source)) {
    TokenStore store = TokenStore::open(source);
    require<DataError>(
        store.tokenizer_digest() == tokenizer.digest(),
        "token store \"{}\" was made by the tokenizer \"{}\" ({}…), and this run has \"{}\" ({}…); "
        "prepare the text again",
        source, excerpt(store.tokenizer_kind()), store.tokenizer_digest().substr(0, 12), tokenizer.kind(),
        tokenizer.digest().substr(0, 12));
    return store;
  }
  // A named corpus never changes: its name is enough, and its program need not run again.
  if (named) {
    const std::optional<fs::path> path = cache_path(source, tokenizer);
    if (std::optional<TokenStore> store = open_cached(path, tokenizer)) return std::move(*store);
    TokenStore store = TokenStore::from_text(read_source(source), tokenizer, source);
    keep(path, store);
    return store;
  }
  const std::string text = read_source(source);
  const std::optional<fs::path> path = cache_path(sha256_hex(text), tokenizer);
  if (std::optional<TokenStore> store = open_cached(path, tokenizer)) {
    store->set_source(source);
    return std::move(*store);
  }
  TokenStore store = TokenStore::from_text(text, tokenizer, source);
  keep(path, store);
  return store;
}

}  // namespace tapeline

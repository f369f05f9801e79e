#include "data/corpus.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "core/error.h"
#include "core/excerpt.h"
#include "core/sha256.h"
#include "data/character_tokenizer.h"
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

TokenStore load_corpus(const std::string& source, const Tokenizer& tokenizer, UnknownSymbols unknown) {
  const bool named = find_corpus(source) != nullptr;
  if (!named && source != "-" && TokenStore::is_store(source)) {
    TokenStore store = TokenStore::open(source);
    require<DataError>(
        store.tokenizer_digest() == tokenizer.digest(),
        "token store \"{}\" was made by the tokenizer \"{}\" ({}…), and this run has \"{}\" ({}…); "
        "give the text itself",
        source, excerpt(store.tokenizer_kind()), store.tokenizer_digest().substr(0, 12), tokenizer.kind(),
        tokenizer.digest().substr(0, 12));
    return store;
  }
  // What is kept has been accepted, and this text may not be.
  if (tokenizer.may_refuse()) return TokenStore::from_text(read_source(source), tokenizer, source, unknown);
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

namespace {

std::vector<std::int32_t> distinct(std::vector<std::int32_t> codes) {
  std::ranges::sort(codes);
  const auto rest = std::ranges::unique(codes);
  codes.erase(rest.begin(), rest.end());
  return codes;
}

/// Those of `codes` that `table` lacks; both in rising order.
std::vector<std::int32_t> without(const std::vector<std::int32_t>& codes,
                                  const std::vector<std::int32_t>& table) {
  std::vector<std::int32_t> left;
  std::ranges::set_difference(codes, table, std::back_inserter(left));
  return left;
}

Corpus load_characters(const std::string& source, const SplitRule& split, std::unique_ptr<Tokenizer> known) {
  require<DataError>(source == "-" || find_corpus(source) != nullptr || !TokenStore::is_store(source),
                     "\"{}\" is a token store; the characters of a text are counted when training begins: "
                     "give the text itself",
                     source);
  const std::string text = read_source(source);
  const std::vector<std::int32_t> codes = characters_of(text);
  Splits splits = split(static_cast<Index>(codes.size()));
  std::vector<std::int32_t> trained;
  for (const TokenRange& range : splits.train) {
    const auto begin = codes.begin() + range.begin;
    std::vector<std::int32_t> here = distinct({begin, begin + range.count});
    trained.insert(trained.end(), here.begin(), here.end());
  }
  trained = distinct(std::move(trained));
  if (!known) known = make_tokenizer("chars", trained);
  const std::vector<std::int32_t> table = known->table();
  const std::vector<std::int32_t> strange = without(trained, table);
  require<DataError>(strange.empty(),
                     "the text \"{}\" has {} in the blocks to train on, not among the {} characters of the "
                     "checkpoint's vocabulary",
                     source, name_characters(strange), table.size());
  TokenStore store = TokenStore::from_text(text, *known, source, UnknownSymbols::as_token);
  return {std::move(known), std::move(store), std::move(splits),
          name_characters(without(distinct(codes), table))};
}

}  // namespace

Corpus load_corpus(const std::string& source, std::string_view kind, const SplitRule& split,
                   std::unique_ptr<Tokenizer> known) {
  if (kind == "chars") return load_characters(source, split, std::move(known));
  std::unique_ptr<Tokenizer> tokenizer = make_tokenizer(kind);
  TokenStore store = load_corpus(source, *tokenizer);
  Splits splits = split(store.size());
  return {std::move(tokenizer), std::move(store), std::move(splits), {}};
}

}  // namespace tapeline

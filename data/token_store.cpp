#include "data/token_store.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "core/error.h"
#include "core/sha256.h"
#include "data/hdf5_reader.h"
#include "data/hdf5_writer.h"

namespace tapeline {
namespace {

static_assert(std::endian::native == std::endian::little, "tokens are mapped from a little-endian file");

constexpr std::string_view container_kind = "tokens";
constexpr int store_version = 1;

/// The narrowest type that holds tokens of a vocabulary of that size.
NumberType token_type(Index vocabulary) {
  if (vocabulary <= Index{1} << 8) return NumberType::u8;
  return vocabulary <= Index{1} << 16 ? NumberType::u16 : NumberType::i32;
}

template <class Stored>
void pack(std::span<const Token> tokens, std::string& bytes) {
  const std::size_t before = bytes.size();
  bytes.resize(before + tokens.size() * sizeof(Stored));
  char* into = bytes.data() + before;
  for (const Token token : tokens) {
    const auto stored = static_cast<Stored>(token);
    std::memcpy(into, &stored, sizeof(Stored));
    into += sizeof(Stored);
  }
}

template <class Stored>
void unpack(const unsigned char* from, std::span<Token> tokens) {
  for (Token& token : tokens) {
    Stored stored;  // the bytes in a file lie at any address
    std::memcpy(&stored, from, sizeof(Stored));
    token = static_cast<Token>(stored);
    from += sizeof(Stored);
  }
}

}  // namespace

struct TokenStore::Contents {
  std::string source, tokenizer_kind, tokenizer_digest, digest;
  Index vocabulary = 0;
  NumberType type = NumberType::u8;
  std::string packed;                // tokens of a text
  std::optional<Hdf5Reader> reader;  // tokens of a file
  std::span<const unsigned char> bytes;

  Index width() const { return number_type_size(type); }
  Index size() const { return static_cast<Index>(bytes.size()) / width(); }

  void unpack_tokens(Index begin, std::span<Token> into) const {
    const unsigned char* from = bytes.data() + begin * width();
    if (type == NumberType::u8)
      unpack<std::uint8_t>(from, into);
    else if (type == NumberType::u16)
      unpack<std::uint16_t>(from, into);
    else
      unpack<std::int32_t>(from, into);
  }
};

TokenStore::TokenStore(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
TokenStore::TokenStore(TokenStore&&) noexcept = default;
TokenStore& TokenStore::operator=(TokenStore&&) noexcept = default;
TokenStore::~TokenStore() = default;

TokenStore TokenStore::from_text(std::string_view text, const Tokenizer& tokenizer, std::string source,
                                 UnknownSymbols unknown) {
  auto contents = std::make_unique<Contents>();
  contents->source = std::move(source);
  contents->tokenizer_kind = tokenizer.kind();
  contents->tokenizer_digest = tokenizer.digest();
  contents->vocabulary = tokenizer.size();
  contents->type = token_type(tokenizer.size());
  // Where the text may be cut anywhere, the wide form of a large text never exists as a whole.
  const std::size_t piece =
      tokenizer.cuts_anywhere() ? std::size_t{1} << 20 : std::max<std::size_t>(text.size(), 1);
  for (std::size_t begin = 0; begin < text.size(); begin += piece) {
    const std::vector<Token> tokens = tokenizer.encode(text.substr(begin, piece), unknown);
    if (contents->type == NumberType::u8)
      pack<std::uint8_t>(tokens, contents->packed);
    else if (contents->type == NumberType::u16)
      pack<std::uint16_t>(tokens, contents->packed);
    else
      pack<std::int32_t>(tokens, contents->packed);
  }
  contents->bytes = {reinterpret_cast<const unsigned char*>(contents->packed.data()),
                     contents->packed.size()};
  contents->digest = sha256_hex(contents->packed);
  // "abc" and "abd" are the same tokens where each text makes its own vocabulary.
  if (tokenizer.may_refuse()) contents->digest = sha256_hex(contents->digest + tokenizer.digest());
  return TokenStore(std::move(contents));
}

bool TokenStore::is_store(const std::filesystem::path& path) {
  return Container::kind_of(path) == container_kind;
}

void TokenStore::save(const std::filesystem::path& path) const {
  Hdf5Writer writer;
  writer.attribute("/", "format", std::string("tapeline tokens"));
  writer.attribute("/", "format_version", store_version);
  writer.attribute("/", "source", contents_->source);
  writer.attribute("/", "tokenizer", contents_->tokenizer_kind);
  writer.attribute("/", "tokenizer_digest", contents_->tokenizer_digest);
  writer.attribute("/", "vocabulary", contents_->vocabulary);
  writer.attribute("/", "digest", contents_->digest);
  writer.packed_numbers("/tokens", contents_->type, contents_->bytes, {contents_->size()});
  Container::write(path, container_kind, writer.finish());
}

TokenStore TokenStore::open(const std::filesystem::path& path) {
  auto contents = std::make_unique<Contents>();
  Hdf5Reader& reader = contents->reader.emplace(Hdf5Reader::open(path, container_kind));
  const std::int64_t version = reader.integer("/", "format_version");
  require<FileError>(version == store_version,
                     "token store \"{}\" has version {}; this program reads version {}", reader.name(),
                     version, store_version);
  contents->source = reader.label("/", "source");
  contents->tokenizer_kind = reader.label("/", "tokenizer");
  contents->tokenizer_digest = reader.label("/", "tokenizer_digest");
  contents->vocabulary = reader.integer("/", "vocabulary");
  contents->digest = reader.label("/", "digest");
  const DatasetShape shape = reader.shape("/tokens");
  require<FileError>(
      shape.extents.size() == 1 && !shape.text && shape.type == token_type(contents->vocabulary),
      "token store \"{}\": its tokens are not one row of {} numbers", reader.name(),
      number_type_name(token_type(contents->vocabulary)));
  contents->type = shape.type;
  contents->bytes = reader.raw("/tokens");
  return TokenStore(std::move(contents));
}

Index TokenStore::size() const { return contents_->size(); }

void TokenStore::read(Index begin, std::span<Token> into) const {
  const auto count = static_cast<Index>(into.size());
  require<ShapeError>(begin >= 0 && count <= size() && begin <= size() - count,
                      "tokens [{}, {}) cannot be read: the text has {}", begin, begin + count, size());
  contents_->unpack_tokens(begin, into);
}

Index TokenStore::vocabulary() const { return contents_->vocabulary; }
const std::string& TokenStore::source() const { return contents_->source; }
void TokenStore::set_source(std::string source) { contents_->source = std::move(source); }
const std::string& TokenStore::digest() const { return contents_->digest; }
const std::string& TokenStore::tokenizer_kind() const { return contents_->tokenizer_kind; }
const std::string& TokenStore::tokenizer_digest() const { return contents_->tokenizer_digest; }

}  // namespace tapeline

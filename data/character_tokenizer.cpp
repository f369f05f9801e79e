#include "data/character_tokenizer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/sha256.h"
#include "core/utf8.h"

namespace tapeline {
namespace {

constexpr std::int32_t byte_order_mark = 0xFEFF;
constexpr char32_t replacement = 0xFFFD;
// How many characters take 1 to 4 bytes. Of those of three bytes one is the mark, which is never a token.
constexpr std::array<Index, 4> characters_of_length = {128, 1920, 61440 - 1, 1048576};

// Calls use(code, offset) for every character of the text.
template <class Use>
void for_each_character(std::string_view text, const Use& use) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Front front = utf8_front(text.substr(at));
    require<DataError>(front.kind == Utf8Front::character,
                       "the text is no UTF-8: byte 0x{:02X} at offset {} begins no character; mend the text, "
                       "or set data.tokenizer = \"bytes\", which takes any",
                       static_cast<unsigned char>(text[at]), at);
    const auto code = static_cast<std::int32_t>(front.code);
    if (code != byte_order_mark) use(code, at);
    at += front.bytes;
  }
}

std::size_t length_index(std::int32_t code) {
  return static_cast<std::size_t>(utf8_length(static_cast<char32_t>(code)) - 1);
}

}  // namespace

std::vector<std::int32_t> characters_of(std::string_view text) {
  std::vector<std::int32_t> codes;
  for_each_character(text, [&](std::int32_t code, std::size_t) { codes.push_back(code); });
  return codes;
}

std::string name_characters(std::span<const std::int32_t> codes) {
  constexpr std::size_t most = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(codes.size(), most); ++i) {
    if (i > 0) names += ", ";
    names += character_name(static_cast<char32_t>(codes[i]));
  }
  return codes.size() > most ? fmt::format("{} and {} more", names, codes.size() - most) : names;
}

CharacterTokenizer::CharacterTokenizer(std::vector<std::int32_t> characters)
    : characters_(std::move(characters)) {
  require<DataError>(!characters_.empty(), "chars: a vocabulary needs at least one character");
  std::array<Index, 4> left = characters_of_length;
  std::int32_t before = -1;
  for (const std::int32_t code : characters_) {
    const bool scalar = code >= 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    require<DataError>(
        scalar && code > before && code != byte_order_mark,
        "chars: {} cannot follow {} in a vocabulary: it holds characters in rising order, each "
        "once, without the byte-order mark",
        code, before);
    before = code;
    --left[length_index(code)];
  }
  for (std::size_t i = 0; i < left.size(); ++i)
    open_nats_[i] = std::log(static_cast<double>(std::max<Index>(1, left[i])));
}

std::vector<Token> CharacterTokenizer::encode(std::string_view text, UnknownSymbols unknown) const {
  std::vector<Token> tokens;
  std::vector<std::int32_t> strange;
  std::size_t first = 0;
  for_each_character(text, [&](std::int32_t code, std::size_t offset) {
    const auto place = std::lower_bound(characters_.begin(), characters_.end(), code);
    if (place != characters_.end() && *place == code) {
      tokens.push_back(static_cast<Token>(place - characters_.begin()));
      return;
    }
    tokens.push_back(static_cast<Token>(known() + static_cast<Index>(length_index(code))));
    if (strange.empty()) first = offset;
    if (unknown == UnknownSymbols::refuse && std::ranges::find(strange, code) == strange.end())
      strange.push_back(code);
  });
  require<DataError>(
      strange.empty(),
      "the text has {} (the first at offset {}), not among the {} characters that the model was "
      "trained on",
      name_characters(strange), first, known());
  return tokens;
}

std::string CharacterTokenizer::decode(const std::vector<Token>& tokens) const {
  std::string text;
  for (const Token token : tokens) {
    check(token);
    append_utf8(text, is_unknown(token)
                          ? replacement
                          : static_cast<char32_t>(characters_[static_cast<std::size_t>(token)]));
  }
  return text;
}

Index CharacterTokenizer::byte_count(Token token) const {
  if (is_unknown(token)) return token - known() + 1;
  return utf8_length(static_cast<char32_t>(characters_[static_cast<std::size_t>(token)]));
}

double CharacterTokenizer::open_nats(Token token) const {
  return is_unknown(token) ? open_nats_[static_cast<std::size_t>(token - known())] : 0;
}

std::string CharacterTokenizer::digest() const {
  Sha256 sum;
  const std::string_view what = "tapeline tokenizer: chars, unknown by length; code points: ";
  sum.update(what.data(), what.size());
  sum.update(characters_.data(), characters_.size() * sizeof(std::int32_t));
  return sum.hex_digest();
}

void CharacterTokenizer::check(Token token) const {
  require<DataError>(token >= 0 && token < size(), "chars: there is no token {}; they go from 0 to {}", token,
                     size() - 1);
}

}  // namespace tapeline

#include "core/random.h"

#include <Random123/philox.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.h"

namespace tapeline {
namespace {

/// FNV-1a, 64 bits, as a hash that takes one byte after another.
class Fnv1a {
 public:
  Fnv1a& byte(unsigned char value) {
    hash_ = (hash_ ^ value) * 0x100000001b3u;
    return *this;
  }
  Fnv1a& number(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) byte(static_cast<unsigned char>(value >> shift));
    return *this;
  }
  Fnv1a& text(std::string_view value) {
    for (const char letter : value) byte(static_cast<unsigned char>(letter));
    return *this;
  }
  RandomKey key() const { return {hash_}; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

std::uint64_t low_half(const std::array<std::uint32_t, 4>& block) {
  return block[0] | std::uint64_t{block[1]} << 32;
}

std::uint64_t high_half(const std::array<std::uint32_t, 4>& block) {
  return block[2] | std::uint64_t{block[3]} << 32;
}

}  // namespace

// A byte in between keeps the two kinds of children apart.
RandomKey RandomKey::child(std::uint64_t number) const {
  return Fnv1a().number(value).byte('#').number(number).key();
}
RandomKey RandomKey::child(std::string_view name) const {
  return Fnv1a().number(value).byte('/').text(name).key();
}

RandomKey random_key(std::uint64_t seed, std::string_view name) {
  return Fnv1a().number(seed).text(name).key();
}

std::array<std::uint32_t, 4> random_block(RandomKey key, std::uint64_t counter, std::uint64_t lane) {
  const r123::Philox4x32::ctr_type place = {
      {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
       static_cast<std::uint32_t>(lane), static_cast<std::uint32_t>(lane >> 32)}};
  const r123::Philox4x32::key_type philox_key = {
      {static_cast<std::uint32_t>(key.value), static_cast<std::uint32_t>(key.value >> 32)}};
  const r123::Philox4x32::ctr_type bits = r123::Philox4x32()(place, philox_key);
  return {bits[0], bits[1], bits[2], bits[3]};
}

double random_uniform(RandomKey key, std::uint64_t index) {
  // The 53 bits of a double's mantissa, so the largest value is 1 - 2^-53.
  return static_cast<double>(low_half(random_block(key, index)) >> 11) * 0x1p-53;
}

double random_normal(RandomKey key, std::uint64_t index) {
  const std::array<std::uint32_t, 4> block = random_block(key, index);
  const double radius =
      static_cast<double>((low_half(block) >> 11) + 1) * 0x1p-53;  // (0, 1]: has a logarithm
  const double turn = static_cast<double>(high_half(block) >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(radius)) * std::cos(2 * std::numbers::pi * turn);
}

std::uint64_t random_below(RandomKey key, std::uint64_t index, std::uint64_t bound) {
  require<ShapeError>(bound >= 1, "random_below: the bound is 0; it must be at least 1");
  // The 2^64 mod bound largest values would favour the small results: draw again there, on another lane.
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t surplus = (largest % bound + 1) % bound;
  for (std::uint64_t lane = 0;; ++lane) {
    const std::uint64_t draw = low_half(random_block(key, index, lane));
    if (draw <= largest - surplus) return draw % bound;
  }
}

Index random_permutation(RandomKey key, Index place, Index count) {
  require<ShapeError>(place >= 0 && place < count,
                      "random_permutation: place {} is outside [0, {}); ask for a place inside", place,
                      count);
  if (count == 1) return 0;
  constexpr std::uint64_t rounds = 8;
  const int half_bits = (std::bit_width(static_cast<std::uint64_t>(count - 1)) + 1) / 2;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  auto walker = static_cast<std::uint64_t>(place);
  // The network permutes the next power of four; a result past `count` is fed in again until it falls inside.
  do {
    std::uint64_t left = walker >> half_bits;
    std::uint64_t right = walker & mask;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::uint64_t mixed = low_half(random_block(key, right, round)) & mask;
      const std::uint64_t next = left ^ mixed;
      left = right;
      right = next;
    }
    walker = left << half_bits | right;
  } while (walker >= static_cast<std::uint64_t>(count));
  return static_cast<Index>(walker);
}

}  // namespace tapeline

#include <algorithm>
#include <array>
#include <cstring>

#include "core/random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/random_blocks.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void random_blocks_vector(RandomKey key, std::uint64_t counter, std::uint64_t lane, std::size_t count,
                          std::uint32_t* out) {
  for (std::size_t block = 0; block < count; ++block) {
    const std::array<std::uint32_t, 4> bits = random_block(key, counter + block, lane);
    std::copy(bits.begin(), bits.end(), out + 4 * block);
  }
}

#else

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<std::uint64_t>;
using Words = hn::Vec<Tag>;

/// One block in every lane: a word in the lower half of each 64 bits, anything in the upper half.
struct Blocks {
  Words x0, x1, x2, x3;
};

HWY_INLINE Words multiplied(Words x, std::uint32_t by) {
  const hn::Repartition<std::uint32_t, Tag> halves;
  return hn::MulEven(hn::BitCast(halves, x), hn::Set(halves, by));
}

HWY_INLINE void philox_round(Blocks& b, Words k0, Words k1) {
  const Words product0 = multiplied(b.x0, 0xD2511F53), product1 = multiplied(b.x2, 0xCD9E8D57);
  b.x0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), b.x1), k0);
  b.x1 = product1;
  b.x2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), b.x3), k1);
  b.x3 = product0;
}

HWY_INLINE void store_blocks(const Blocks& b, std::uint64_t* out) {
  const Tag d;
  const Words lower = hn::Set(d, 0xffffffffu);
  hn::StoreInterleaved2(hn::Or(hn::And(b.x0, lower), hn::ShiftLeft<32>(b.x1)),
                        hn::Or(hn::And(b.x2, lower), hn::ShiftLeft<32>(b.x3)), d, out);
}

void random_blocks_vector(RandomKey key, std::uint64_t counter, std::uint64_t lane, std::size_t count,
                          std::uint32_t* out) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  // Two vectors of blocks side by side: the rounds of one hide the multiplier's latency of the other.
  HWY_ALIGN std::array<std::uint64_t, 4 * hn::MaxLanes(Tag())> words;
  for (std::size_t first = 0; first < count; first += 2 * lanes) {
    const Words place_a = hn::Iota(d, counter + first), place_b = hn::Iota(d, counter + first + lanes);
    const Words lane_low = hn::Set(d, lane), lane_high = hn::Set(d, lane >> 32);
    Blocks a{place_a, hn::ShiftRight<32>(place_a), lane_low, lane_high};
    Blocks b{place_b, hn::ShiftRight<32>(place_b), lane_low, lane_high};
    auto k0 = static_cast<std::uint32_t>(key.value), k1 = static_cast<std::uint32_t>(key.value >> 32);
    for (int round = 0; round < 10; ++round) {
      const Words key0 = hn::Set(d, k0), key1 = hn::Set(d, k1);
      philox_round(a, key0, key1);
      philox_round(b, key0, key1);
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    store_blocks(a, words.data());
    store_blocks(b, words.data() + 2 * lanes);
    std::memcpy(out + 4 * first, words.data(), 16 * std::min(2 * lanes, count - first));
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace tapeline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tapeline {

HWY_EXPORT(random_blocks_vector);

void random_blocks(RandomKey key, std::uint64_t counter, std::uint64_t lane, std::size_t count,
                   std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(random_blocks_vector)(key, counter, lane, count, out);
}

}  // namespace tapeline
#endif

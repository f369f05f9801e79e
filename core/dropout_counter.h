#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/index.h"
#include "core/random.h"

namespace tapeline {

/// Dropout decided by counter: whether element (sequence, head, row, column) survives is a pure function of
/// the key and that place, so it does not depend on tiles, threads or the cut into micro-batches. The bits
/// are those of random_block(key, row << 32 | column / 4, sequence << 32 | head): one block serves four
/// columns. The generator is written out here, several blocks side by side, so that the compiler can
/// vectorise it.
class DropoutCounter {
 public:
  /// 0 <= rate <= 1, already checked.
  DropoutCounter(RandomKey key, double rate)
      : key_(key),
        threshold_(rate * 0x1p32 < 0xffffffffp0 ? static_cast<std::uint32_t>(rate * 0x1p32) : 0xffffffffu),
        survivor_(rate < 1 ? 1 / (1 - rate) : 0) {}

  /// Writes the factors of `count` columns from `first_column` on: 0 where dropped, 1 / (1 - rate) where
  /// kept. With rate 1 all are 0.
  template <class Number>
  void factors(Index sequence, Index head, Index row, Index first_column, Index count, Number* out) const {
    const auto survivor = static_cast<Number>(survivor_);
    std::array<std::uint32_t, 4 * blocks> bits;
    const Index end = first_column + count;
    for (Index column = first_column; column < end;) {
      const Index group = column / 4;
      const Index skipped = column - 4 * group;
      const Index taken = std::min<Index>(end - column, 4 * blocks - skipped);
      random_blocks(key_, counter(row, group), lane(sequence, head),
                    static_cast<std::size_t>((skipped + taken + 3) / 4), bits.data());
      const std::uint32_t* own = bits.data() + skipped;
      for (Index c = 0; c < taken; ++c) out[c] = own[c] < threshold_ ? Number{0} : survivor;
      out += taken;
      column += taken;
    }
  }

  /// Whether one element survives.
  bool keeps(Index sequence, Index head, Index row, Index column) const {
    const auto bits = random_block(key_, counter(row, column / 4), lane(sequence, head));
    return survivor_ != 0 && bits[static_cast<std::size_t>(column % 4)] >= threshold_;
  }

 private:
  static constexpr Index blocks = 16;  // 64 columns: a key tile of attention

  static std::uint64_t counter(Index row, Index group) {
    return static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint32_t>(group);
  }
  static std::uint64_t lane(Index sequence, Index head) {
    return static_cast<std::uint64_t>(sequence) << 32 | static_cast<std::uint32_t>(head);
  }

  RandomKey key_;
  std::uint32_t threshold_;
  double survivor_;
};

}  // namespace tapeline

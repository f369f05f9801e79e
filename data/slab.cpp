#include "data/slab.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tapeline {

Slab Slab::whole(const std::vector<Index>& extents) {
  Slab slab;
  for (const Index extent : extents) slab.axes.push_back({0, extent, 1});
  return slab;
}

Index Slab::size() const {
  Index product = 1;
  for (const SlabAxis& axis : axes) product *= axis.count;
  return product;
}

bool Slab::fits(const std::vector<Index>& extents) const {
  if (axes.size() != extents.size()) return false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const SlabAxis& axis = axes[i];
    if (axis.begin < 0 || axis.count < 0 || axis.step < 1) return false;
    if (axis.count == 0) continue;
    // In this order nothing overflows.
    if (axis.begin >= extents[i] || axis.count - 1 > (extents[i] - 1 - axis.begin) / axis.step) return false;
  }
  return true;
}

std::string Slab::text() const {
  std::vector<std::string> parts;
  for (const SlabAxis& axis : axes) {
    const Index end = axis.count == 0 ? axis.begin : axis.last() + 1;
    parts.push_back(axis.step == 1 ? fmt::format("{}:{}", axis.begin, end)
                                   : fmt::format("{}:{}:{}", axis.begin, end, axis.step));
  }
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

void for_each_piece(const Slab& whole, Index largest, const std::function<void(const Slab& piece)>& visit) {
  largest = std::max<Index>(largest, 1);
  if (whole.size() == 0) return;
  if (whole.size() <= largest) {
    visit(whole);
    return;
  }
  // The axis that is cut: the first behind which as much as is wanted hangs together.
  std::size_t cut = 0;
  Index behind = whole.size();  // numbers behind one place of that axis
  for (; cut < whole.axes.size(); ++cut) {
    behind /= whole.axes[cut].count;
    if (behind <= largest) break;
  }
  const Index places = largest / behind;
  Slab piece = whole;
  for (std::size_t axis = 0; axis < cut; ++axis) piece.axes[axis].count = 1;
  for (;;) {
    const SlabAxis& along = whole.axes[cut];
    for (Index done = 0; done < along.count; done += places) {
      piece.axes[cut] = {along.begin + done * along.step, std::min(places, along.count - done), along.step};
      visit(piece);
    }
    // The axes in front count up like the digits of a number.
    std::size_t axis = cut;
    for (; axis > 0; --axis) {
      SlabAxis& digit = piece.axes[axis - 1];
      const SlabAxis& all = whole.axes[axis - 1];
      digit.begin += all.step;
      if (digit.begin <= all.last()) break;
      digit.begin = all.begin;
    }
    if (axis == 0) return;
  }
}

}  // namespace tapeline

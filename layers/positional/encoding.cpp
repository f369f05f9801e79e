#include "layers/positional/encoding.h"

#include <cmath>
#include <cstdint>
#include <numeric>

namespace tapeline::inline TAPELINE_PRECISION {

Index rows_slot(const Positions& rows) {
  if (rows.axis[0].empty()) return (rows.begin << 32) + rows.count;
  // Explicit positions: told apart by where they stand; the bit keeps them from meeting the above.
  return (Index{1} << 62) | static_cast<Index>(reinterpret_cast<std::uintptr_t>(rows.axis[0].data()));
}

Positions PositionalEncoding::positions(Pass& pass, Index begin, Index count) const {
  Positions rows{.begin = begin, .count = count};
  if (pass.position_shift == 0) return rows;
  const std::span<Index> shifted = pass.indices(count);
  std::iota(shifted.begin(), shifted.end(), begin + pass.position_shift);
  rows.axis[0] = shifted;
  return rows;
}

Var PositionalEncoding::add_to_input(Pass&, Var x, const Positions&) const { return x; }

Rotation PositionalEncoding::rotation(Pass&, Role, const Positions&, const PassPositions&, Index) const {
  return {};
}

ScoreTerms PositionalEncoding::score_terms(Pass&, const PassPositions& all, Index) const {
  ScoreTerms terms;
  terms.scale = static_cast<Real>(1 / std::sqrt(static_cast<double>(head_width_)));
  terms.positions = all;
  return terms;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

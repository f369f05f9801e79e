#include "layers/positional/angles.h"

#include <cmath>
#include <limits>

#include "core/parallel.h"

namespace tapeline::inline TAPELINE_PRECISION {

void fill_angles(const Positions& rows, std::span<const double> frequencies, const AngleTables& tables) {
  const Index count = static_cast<Index>(frequencies.size());
  const Index grain = 8192 / (count + 1) + 1;  // rows worth a thread
  // Without such frequencies not even a distance below 0 has them.
  constexpr Index lowest = std::numeric_limits<Index>::min();
  const Index first_positions = tables.first_positions > 0 ? tables.first_positions : lowest;
  parallel_for(rows.count, grain, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const double position = static_cast<double>(rows.at(row));
      const std::span<const double> own = rows.at(row) < first_positions ? tables.of_first : frequencies;
      for (Index p = 0; p < count; ++p) {
        const double angle = position * own[static_cast<std::size_t>(p)];
        const Index at = row * tables.stride + p * tables.step;
        tables.sine[at] = static_cast<Real>(tables.factor * std::sin(angle));
        if (p < tables.cosines) tables.cosine[at] = static_cast<Real>(tables.factor * std::cos(angle));
      }
    }
  });
}

Rotation rotation_by(Tape& tape, const Tensor& tables, Pairing pairing) {
  const Shape one{tables.shape[1], tables.shape[2]};
  return {.cosine = tape.constant({one, tables.data}),
          .sine = tape.constant({one, tables.data + one.size()}),
          .width = 2 * one[1],
          .pairing = pairing};
}

}  // namespace tapeline::inline TAPELINE_PRECISION

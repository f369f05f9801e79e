#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "experiments/compare/cell_record.h"
#include "experiments/compare/plan.h"

namespace tapeline {

/// One training of a sweep of learning rates (compare.sweep), what it cost and what came of it. The rate is
/// chosen by the loss at the trained length, on the targets that the comparison itself is scored on; no loss
/// at a longer length has a say.
struct SweepPoint {
  std::string variant, kind;
  std::uint64_t seed = 0;
  Index train_length = 0;
  double multiple = 1;  ///< of the variant's optimizer.lr
  double lr = 0;
  Index steps = 0;
  Index trained_tokens = 0;
  double training_flop = 0;
  std::string status;  ///< "ok", "diverged"
  Index scored_tokens = 0;
  double nll =
      std::numeric_limits<double>::quiet_NaN();  ///< nats a token, non-overlapping at the trained length
  double tokens_per_second = 0;                  ///< of training
  bool chosen = false;
};

/// The points of the sweep that the configuration asks for, variant by variant: none without one. The cells
/// of the first seed become those that are trained in the sweep (CellPart::swept). Throws ConfigError where a
/// variant's rates would all do the same.
std::vector<Cell> plan_sweep(const Config& config, std::vector<Cell>& cells);

/// Those points among `cells` that their records, one a cell, have a result of. Of a variant whose points are
/// all there the one with the lowest loss is chosen; of equals the first; when all diverged the lowest rate.
std::vector<SweepPoint> measured_sweep(const std::vector<Cell>& cells,
                                       const std::vector<CellRecord>& records);

/// Gives the cells of every variant that has a chosen point its rate.
void take_rates(std::vector<Cell>& cells, const std::vector<SweepPoint>& sweep);

/// The whole of sweep.csv: a line a point. tokens_per_second is the only column that a second run changes.
std::string sweep_csv(const std::vector<SweepPoint>& sweep);

}  // namespace tapeline

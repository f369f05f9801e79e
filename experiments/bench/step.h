#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/bench/breakdown.h"
#include "experiments/bench/floor.h"
#include "experiments/bench/rounds.h"
#include "train/config.h"
#include "train/step_trace.h"

namespace tapeline {

/// The speed of one training step, measured beside the machine's own limit.
struct StepSpeed {
  std::string encoding;  ///< positional.kind
  Index tokens = 0;      ///< of a step
  int threads = 1;
  Index repeats = 0;
  double step_seconds = 0;              ///< median
  std::optional<double> floor_seconds;  ///< of the products alone; see step_floor()
  double tokens_per_second = 0;
  double gflops = 0;                       ///< products only, attention's over the pairs that are seen
  std::optional<double> gemm_floor_ratio;  ///< step over floor
  std::optional<double> ratio_over_none;   ///< over a step of kind none: median over neighbouring steps
  double peak_bytes = 0;                   ///< weights, gradients, moments, and the step's own at its highest
  /// By how much the process's resident memory rises in the first steps, and gradients and moments, which are
  /// there before them and in other programs are made by them: what training takes above the weights. With
  /// several models in the process it is not known.
  std::optional<double> peak_rss_bytes;
  bool allocations_counted = false;
  double heap_allocations = 0;    ///< a steady step, our own
  double vendor_allocations = 0;  ///< a steady step, inside vendor calls
  double minor_faults = 0;        ///< a steady step
  std::vector<Floor::Line> floor;
  std::vector<OpTime> ops;          ///< of watched steps; they add up to:
  double ops_seconds = 0;           ///< a watched step, see Breakdown
  double watched_step_seconds = 0;  ///< median
  double watch_overhead = 0;  ///< what watching adds to a step, as a share: median over pairs of neighbours
};

/// Trains on made-up tokens: sampling, forward, backward, clipping and update. After a warm-up, repeats of
/// the step, of a watched step and of the floor's products take turns, so that whatever else the machine does
/// touches all three. Then come the steps that `trace` wants, one after another. Throws FileError when it
/// cannot be written, Stopped between two repeats.
StepSpeed measure_step(const Config& config, const BenchOptions& options, StepTrace& trace);

/// The same for several configurations that differ in their encoding only: one repeat of each in turn, the
/// floor, which is the same for all, once a turn.
std::vector<StepSpeed> measure_encodings(const std::vector<Config>& configs, const BenchOptions& options);

}  // namespace tapeline

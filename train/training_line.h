#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/index.h"
#include "train/progress.h"

namespace tapeline {

/// How fast a training run goes, from one look to the next.
class TrainingPace {
 public:
  /// Begins after step `step`, of `tokens` each. `flops`: of one token; `gemm_gflops`: the speed of the
  /// machine's matrix product.
  TrainingPace(Index step, Index tokens, double flops, double gemm_gflops);
  /// "41.2k tokens/s, 62% of GEMM speed" since the last look, up to the end of step `step`.
  std::string look(Index step);

 private:
  Index step_, tokens_;
  double flops_, gemm_gflops_;
  std::chrono::steady_clock::time_point at_;
};

/// The progress line of a training run: step, loss, tokens a second since the last time it was shown, that
/// speed as a share of the machine's matrix product, time left.
class TrainingLine {
 public:
  /// `prefix` stands in front of every line ("rope, seed 0  ").
  TrainingLine(ProgressStyle style, std::string prefix, Index steps);

  void start(const TrainingPace& pace) { pace_ = pace; }
  /// After a step; shown when it is due.
  void after_step(Index step, double loss, double seconds_left);
  /// Makes room for a message.
  void clear() { progress_.clear(); }
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  std::string prefix_;
  Index steps_;
  std::optional<TrainingPace> pace_;
};

}  // namespace tapeline

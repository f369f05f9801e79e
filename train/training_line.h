#pragma once

#include <chrono>
#include <string>

#include "core/index.h"
#include "train/progress.h"

namespace tapeline {

/// The progress line of a training run: step, loss, tokens a second since the last time it was shown, that
/// speed as a share of the machine's matrix product, time left.
class TrainingLine {
 public:
  /// `prefix` stands in front of every line ("rope, seed 0  ").
  TrainingLine(ProgressStyle style, std::string prefix, Index steps, Index tokens_per_step);

  /// Begins after step `step`. `flops`: of one token; `gemm_gflops`: the machine's speed.
  void start(Index step, double flops, double gemm_gflops);
  /// After a step; shown when it is due.
  void after_step(Index step, double loss, double seconds_left);
  /// Makes room for a message.
  void clear() { progress_.clear(); }
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  std::string prefix_;
  Index steps_, tokens_per_step_;
  double flops_ = 0, gemm_gflops_ = 1;
  Index shown_step_ = 0;
  std::chrono::steady_clock::time_point shown_at_{};
};

}  // namespace tapeline

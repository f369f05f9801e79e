#include "train/training_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tapeline {

TrainingLine::TrainingLine(ProgressStyle style, std::string prefix, Index steps, Index tokens_per_step)
    : progress_(style), prefix_(std::move(prefix)), steps_(steps), tokens_per_step_(tokens_per_step) {}

void TrainingLine::start(Index step, double flops, double gemm_gflops) {
  flops_ = flops;
  gemm_gflops_ = gemm_gflops;
  shown_step_ = step;
  shown_at_ = std::chrono::steady_clock::now();
}

void TrainingLine::after_step(Index step, double loss, double seconds_left) {
  if (!progress_.due()) return;
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::max(std::chrono::duration<double>(now - shown_at_).count(), 1e-9);
  const double speed = static_cast<double>((step - shown_step_) * tokens_per_step_) / seconds;
  progress_.show(fmt::format("{}step {}/{}  loss {:.4f}  {} tokens/s  {:.0f}% of GEMM speed  {} left",
                             prefix_, step, steps_, loss, short_number(speed),
                             100 * flops_ * speed / 1e9 / gemm_gflops_, duration_text(seconds_left)));
  shown_step_ = step;
  shown_at_ = now;
}

}  // namespace tapeline

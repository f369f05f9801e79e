#include "train/training_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tapeline {

TrainingPace::TrainingPace(Index step, Index tokens, double flops, double gemm_gflops)
    : step_(step),
      tokens_(tokens),
      flops_(flops),
      gemm_gflops_(gemm_gflops),
      at_(std::chrono::steady_clock::now()) {}

std::string TrainingPace::look(Index step) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::max(std::chrono::duration<double>(now - at_).count(), 1e-9);
  const double speed = static_cast<double>((step - step_) * tokens_) / seconds;
  step_ = step;
  at_ = now;
  return fmt::format("{} tokens/s, {:.0f}% of GEMM speed", short_number(speed),
                     100 * flops_ * speed / 1e9 / gemm_gflops_);
}

TrainingLine::TrainingLine(ProgressStyle style, std::string prefix, Index steps)
    : progress_(style), prefix_(std::move(prefix)), steps_(steps) {}

void TrainingLine::after_step(Index step, double loss, double seconds_left) {
  if (!pace_ || !progress_.due()) return;
  progress_.show(fmt::format("{}step {}/{}  loss {:.4f}  {}  {} left", prefix_, step, steps_, loss,
                             pace_->look(step), duration_text(seconds_left)));
}

}  // namespace tapeline

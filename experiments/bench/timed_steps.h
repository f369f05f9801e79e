#pragma once

#include <memory>
#include <vector>

#include "data/window_sampler.h"
#include "experiments/bench/breakdown.h"
#include "experiments/bench/floor.h"
#include "experiments/bench/step.h"
#include "train/optimizer.h"
#include "train/train_step.h"

namespace tapeline {

/// A model in training on a made-up text. Sizes are in bytes.
class Trained {
 public:
  /// `config` must stay.
  explicit Trained(const Config& config);

  /// A whole step: sampling, forward, backward, clipping, update. `watch`, where given, sees every op.
  void step(Watch* watch = nullptr);

  const StepShape& shape() const { return shape_; }
  const Transformer& model() const { return model_; }
  double weight_bytes() const { return static_cast<double>(model_.parameters().size()) * sizeof(Real); }
  double gradient_and_moment_bytes() const {
    return (1 + static_cast<double>(optimizer_->slots().size())) * weight_bytes();
  }
  /// All of these, and the step's own at its highest.
  double peak_bytes() const {
    return weight_bytes() + gradient_and_moment_bytes() + static_cast<double>(step_.peak_bytes());
  }

 private:
  const Config& config_;
  StepShape shape_;
  Transformer model_;
  TrainStep step_;
  std::unique_ptr<Optimizer> optimizer_;
  TokenStore text_;
  WindowSampler sampler_;
  std::vector<Token> inputs_, targets_;
  Index number_ = 0;
};

/// A model in training and the times of its steps.
class TimedSteps {
 public:
  /// Makes the model, warms it up, and counts what a steady step takes of the system. `config` must stay.
  explicit TimedSteps(const Config& config);

  Trained& trained() { return trained_; }
  const std::vector<double>& seconds() const { return plain_; }

  /// Whatever came before leaves the caches as it likes: a step that nobody times or watches comes first, and
  /// who of the two others is next changes each time.
  void repeat(Index round);

  /// What was found; `floor` null: it was not measured.
  StepSpeed speed(const Floor* floor) const;

 private:
  double watched_step();

  Trained trained_;
  StepSpeed speed_;
  std::vector<double> plain_, watch_ratios_;
  Breakdown breakdown_;
  Watch watch_;
};

/// Of what is measured a second time in the same rounds: the median of first over second, round by round.
double median_ratio(const std::vector<double>& first, const std::vector<double>& second);

/// The floor of a step, where it is asked for.
std::optional<Floor> floor_of(const Config& config, const BenchOptions& options);
/// Null where it was not asked for.
inline const Floor* floor_or_null(const std::optional<Floor>& floor) { return floor ? &*floor : nullptr; }

}  // namespace tapeline

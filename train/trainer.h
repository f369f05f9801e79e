#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "data/splits.h"
#include "data/token_store.h"
#include "data/tokenizer.h"
#include "layers/transformer.h"
#include "train/config_loader.h"
#include "train/evaluate.h"
#include "train/progress.h"
#include "train/step_trace.h"

namespace tapeline {

/// The text that a run trains on and validates with.
struct TrainingText {
  const TokenStore& store;
  const Tokenizer& tokenizer;
  Splits splits;
};

/// What whoever follows a run is told after every step.
struct StepDone {
  Index step = 0;           ///< of config.train.steps
  double loss = 0;          ///< nats a token, of this step
  double seconds_left = 0;  ///< NaN: not known yet
};

struct TrainOptions {
  std::filesystem::path folder;  ///< the run folder
  /// Go on from the folder's latest checkpoint. Without it a folder that holds a run is refused.
  bool resume = false;
  /// Start from the weights of this checkpoint; they become the run's own checkpoint of step 0. A run that
  /// has a checkpoint to resume from goes on with that one.
  std::optional<std::filesystem::path> from;
  std::string label;                              ///< shown before the step ("rope, seed 0")
  std::string_view goes_on = "--resume goes on";  ///< said of a run that a signal stopped
  ProgressStyle progress = ProgressStyle::none;
  /// Stop, saved, before a step that would end later than so many seconds after the first began; at least one
  /// step is made. 0: no end. It changes nothing else: resumed, the run goes on as if it had not stopped.
  double budget_seconds = 0;
  StepTrace* trace = nullptr;  ///< of the first steps of this process; written when the run ends before them
  double gemm_gflops = 0;      ///< the machine's measured speed, for the share shown; 0: measured now
  std::function<void(const StepDone&)> after_step;
  /// Measures the model after a step, instead of the evaluation on the validation split.
  std::function<EvaluationResult(Index step)> validate;
};

struct TrainOutcome {
  Index steps = 0;
  bool complete = true;  ///< false: stopped by the budget
  Index skipped = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();  ///< mean of the last steps, nats a token
  double validation_loss = std::numeric_limits<double>::quiet_NaN();  ///< after the last step
  double best_validation_loss = std::numeric_limits<double>::quiet_NaN();
  std::filesystem::path checkpoint;  ///< the last one
  double seconds = 0;                ///< of this process
  double tokens_per_second = 0;
};

/// Trains one model as the configuration says, in `options.folder`: metrics.jsonl, checkpoints, validation. A
/// run that is complete already is only reported. A signal: saves, then throws Stopped. Throws NumericError
/// for a loss or gradient that is not finite (train.on_nonfinite = "stop"), FileError, ConfigError.
TrainOutcome train_model(const ResolvedConfig& config, const TrainingText& text, const TrainOptions& options);

}  // namespace tapeline

#pragma once

#include <optional>

#include "core/index.h"
#include "train/config.h"

namespace tapeline {

/// What a few steps of training showed of a model.
struct MeasuredStep {
  Index parameters = 0;
  double bytes = 0;    ///< weights, gradients, moments, the step's own
  double seconds = 0;  ///< one step, the optimizer included
};

/// At least weights, gradients and two moments, and of each token of a micro-batch a dozen rows a layer: to
/// refuse a step before it is tried.
double least_step_bytes(const Config& config);

/// Runs a few steps on made-up tokens, for about `seconds`, at least two. Nothing for a model that would not
/// fit this machine. Polls signals (throws Stopped).
std::optional<MeasuredStep> measure_step(const Config& config, double seconds = 1);

}  // namespace tapeline

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/parameter.h"
#include "core/watch.h"
#include "train/config.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// What one update needs beside the gradients.
struct UpdateRequest {
  double rate = 0;     ///< learning rate of this update
  double divisor = 1;  ///< the gradients are sums over this many tokens
  double clip = 0;     ///< largest norm of the divided gradient; 0: none
  Watch* watch = nullptr;
};

/// What one update found.
struct UpdateReport {
  double gradient_norm = 0;  ///< of the divided gradient, before clipping
  bool applied = false;      ///< false: the norm was NaN or infinite, and nothing but the gradients changed
  std::string first_bad;     ///< the first parameter whose gradient is not finite, when not applied
};

/// Turns summed gradients into new weights: divides once, takes the norm, clips, steps, sets the gradients to
/// zero. A new kind is one file: it names the vectors that it keeps for every weight, and steps one
/// parameter.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update of every parameter. A norm that is NaN or infinite changes no weight, no moment and no count;
  /// the gradients are set to zero all the same.
  UpdateReport update(const UpdateRequest& request);

  /// What update() does for a norm that is not finite, when the loss itself is not: nothing is changed, and
  /// the first parameter that is not finite, in value or gradient, is named.
  UpdateReport refuse();

  virtual std::string_view kind() const = 0;

  /// Updates made so far, kept in checkpoints (bias correction goes by it).
  Index updates() const { return updates_; }
  void set_updates(Index updates) { updates_ = updates; }

  /// The vectors kept for every weight ("m", "v"), each one contiguous block in the order of the parameters.
  const std::vector<std::string>& slots() const { return slot_names_; }
  /// The part of slot `slot` that belongs to parameter number `parameter`.
  Tensor state(std::size_t slot, std::size_t parameter) const;

 protected:
  Optimizer(ParameterStore& parameters, std::vector<std::string> slots);

  /// Steps one parameter: gradient = factor * grad(), which is set to zero; keeps the value within its
  /// bounds.
  virtual void step(Parameter& parameter, std::size_t number, double rate, double factor) = 0;

 private:
  ParameterStore& parameters_;
  std::vector<std::string> slot_names_;
  std::vector<Storage> slots_;
  std::vector<Index> offsets_;
  Index updates_ = 0;
};

/// The names that optimizer.kind may have.
const std::vector<std::string>& optimizer_kinds();
/// The optimizer that the configuration names. Throws ConfigError for a kind that this version does not have
/// and for values out of range.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, ParameterStore& parameters);

/// AdamW with decoupled decay on the parameters that decay (Loshchilov, Hutter 2017, 1711.05101).
std::unique_ptr<Optimizer> make_adamw(const OptimizerConfig& config, ParameterStore& parameters);
/// Lion: the sign of an average, the whole rate for every weight; one vector of state (Chen et al. 2023,
/// 2302.06675).
std::unique_ptr<Optimizer> make_lion(const OptimizerConfig& config, ParameterStore& parameters);
/// Gradient descent with momentum, the decay decoupled as AdamW's is (1711.05101, algorithm 1, with the rate
/// outside the velocity); one vector of state.
std::unique_ptr<Optimizer> make_sgd(const OptimizerConfig& config, ParameterStore& parameters);

/// Throws ConfigError unless optimizer.betas are two numbers from 0 to below 1.
void check_betas(const OptimizerConfig& config, std::string_view kind);

}  // namespace tapeline::inline TAPELINE_PRECISION

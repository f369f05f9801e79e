#include "layers/positional/score_scale.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/ops.h"
#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

/// function(n) of every query row: [Tq], made once a pass.
template <class Function>
Var by_visible_keys(Pass& pass, const void* owner, const KeyMask& mask, const PassPositions& all,
                    const Function& function) {
  const Index begin = all.query.begin, count = all.query.count;
  return pass.once(owner, (begin << 32) + count, [&] {
    const Index rows = all.key.begin + all.key.count;
    const KeyMask seen = mask.limited_to(pass.key_limit);
    const Tensor factors = pass.tape.allocate({count});
    for (Index row = 0; row < count; ++row) {
      factors.data[row] = static_cast<Real>(function(seen.keys_seen(begin + row, rows)));
    }
    return pass.tape.constant(factors);
  });
}

/// A function of n, the same in all heads of the layers in which it acts.
class FixedScale final : public ScoreScale {
 public:
  using Function = std::function<double(Index keys)>;
  FixedScale(const KeyMask& mask, Function function, std::vector<bool> acts_in)
      : mask_(mask), function_(std::move(function)), acts_in_(std::move(acts_in)) {}

  Var factors(Pass& pass, const PassPositions& all, Index layer) const override {
    if (!acts_in(layer)) return {};
    return by_visible_keys(pass, this, mask_, all, function_);
  }

  bool acts_in(Index layer) const override { return acts_in_[static_cast<std::size_t>(layer)]; }

 private:
  KeyMask mask_;
  Function function_;
  std::vector<bool> acts_in_;  // by layer
};

/// One over the mean of ln n over the rows of a training window; 1 where all rows see one key and nothing is
/// scaled.
double initial_softmax_scale(const KeyMask& mask, Index train_length) {
  double sum = 0;
  for (Index row = 0; row < train_length; ++row) {
    sum += std::log(static_cast<double>(mask.keys_seen(row, train_length)));
  }
  return sum > 0 ? static_cast<double>(train_length) / sum : 1.0;
}

class SoftmaxScale final : public ScoreScale {
 public:
  SoftmaxScale(const KeyMask& mask, const ScoreScaleContext& context) : mask_(mask) {
    const auto initial = static_cast<Real>(initial_softmax_scale(mask, context.train_length));
    const Initializer fill = [initial](Tensor value, RandomKey) {
      std::fill_n(value.data, value.size(), initial);
    };
    for (Index layer = 0; layer < context.layers; ++layer) {
      const Scope scope = layer_scope(context.root, layer);
      scales_.push_back(&scope.add("score_scale", {.shape = {context.heads}, .initializer = fill}));
    }
  }

  Var factors(Pass& pass, const PassPositions& all, Index layer) const override {
    const Var logarithms = by_visible_keys(pass, this, mask_, all,
                                           [](Index keys) { return std::log(static_cast<double>(keys)); });
    Parameter& scale = *scales_[static_cast<std::size_t>(layer)];
    return multiply(reshape(pass.tape.leaf(scale), {scale.shape()[0], 1}), logarithms);  // [H, 1] [Tq]
  }

 private:
  KeyMask mask_;
  std::vector<Parameter*> scales_;  // by layer
};

}  // namespace

double log_length_factor(Index keys, Index base, bool clip) {
  const double factor = std::log(static_cast<double>(keys)) / std::log(static_cast<double>(base));
  return clip ? std::max(1.0, factor) : factor;
}

double floored_factor(Index keys, double floor_scale, double attention_scale) {
  return 1 + attention_scale * std::log(std::floor(static_cast<double>(keys) / floor_scale) + 1);
}

std::unique_ptr<ScoreScale> make_score_scale(const PositionalConfig& config,
                                             const ScoreScaleContext& context) {
  const ScoreScaleConfig& score = config.score;
  if (score.scale == "none") return nullptr;
  if (score.scale == "ssmax") return std::make_unique<SoftmaxScale>(config.keys, context);
  std::vector<bool> acts_in(static_cast<std::size_t>(context.layers), true);
  if (score.scale == "logn") {
    const Index base = score.base_length == 0 ? context.train_length : score.base_length;
    return std::make_unique<FixedScale>(
        config.keys, [base, clip = score.clip](Index keys) { return log_length_factor(keys, base, clip); },
        std::move(acts_in));
  }
  for (Index layer = 0; !config.pattern.empty() && layer < context.layers; ++layer) {
    acts_in[static_cast<std::size_t>(layer)] = config.kind_of_layer(layer) == "none";
  }
  return std::make_unique<FixedScale>(
      config.keys,
      [floor = score.floor_scale, height = score.attention_scale](Index keys) {
        return floored_factor(keys, floor, height);
      },
      std::move(acts_in));
}

}  // namespace tapeline::inline TAPELINE_PRECISION

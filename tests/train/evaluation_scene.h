#pragma once

#include "tests/train/tiny.h"
#include "train/target_losses.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// A model that was never trained but whose weights are far from the start, so that every choice of the
/// evaluation matters, and a text with targets.
struct EvaluationScene {
  explicit EvaluationScene(const std::string& kind, const std::string& text = tiny_text(8192))
      : EvaluationScene(tiny_config(kind).config, text) {}
  explicit EvaluationScene(const Config& of, const std::string& text = tiny_text(8192))
      : config(of),
        tokenizer(make_tokenizer("bytes")),
        store(TokenStore::from_text(text, *tokenizer, "tiny")),
        model(model_plan(config)) {
    stir(model);
    plan.scored = scored_set({{0, 4096}, {4096, 4096}}, 512);
    plan.subset = scored_subset(plan.scored, 512, 128);
    plan.probe_targets = single_targets(plan.scored, 24, 64);
    plan.attention = scored_subset(plan.scored, 512, 512);
  }

  /// Adds numbers to the weights, by name the same for every model.
  static void stir(Transformer& model) {
    std::uint64_t number = 0;
    for (Parameter& parameter : model.parameters().parameters()) {
      const Tensor value = parameter.mutable_value();
      for (Index i = 0; i < value.size(); ++i) {
        value.data[i] += static_cast<Real>(0.15 * random_normal(random_key(1, parameter.name()), number++));
      }
    }
  }

  EvaluationResult run(const EvaluationCell& cell, const EvaluationOptions& options = {}) const {
    return evaluate_cell(model, store, *tokenizer, plan, cell, options);
  }
  ProbeSubject subject() const { return {model, store, *tokenizer, plan}; }
  /// The same weights under other settings that have none of their own.
  Transformer with(const std::function<void(ModelPlan&)>& change) const {
    ModelPlan changed = model_plan(config);
    change(changed);
    Transformer other(changed);
    stir(other);
    return other;
  }

  Config config;
  std::unique_ptr<Tokenizer> tokenizer;
  TokenStore store;
  Transformer model;
  EvaluationPlan plan;
};

/// The kinds of the build that take any length.
inline std::vector<std::string> unlimited_kinds() {
  return test::built_of({"alibi", "rope", "sinusoidal", "none"});
}

/// Non-overlapping windows on the whole scored set.
inline EvaluationCell plain_windows(Index length) {
  return {Protocol::nonoverlapping, length, length, false};
}

}  // namespace tapeline::inline TAPELINE_PRECISION

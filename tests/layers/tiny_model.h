#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "layers/positional/registry.h"
#include "layers/transformer.h"
#include "tests/support/kinds.h"
#include "tests/support/reference.h"

/// A model small enough to run hundreds of times, and the ways of running it that must agree.
namespace tapeline::inline TAPELINE_PRECISION {

inline ModelPlan tiny_plan(const std::string& kind = test::any_kind(), Index train_length = 16) {
  ModelPlan plan;
  plan.model.layers = 2;
  plan.model.width = 16;
  plan.model.heads = 2;
  plan.positional.kind = kind;
  plan.vocabulary = 11;
  plan.train_length = train_length;
  plan.seed = 3;
  return plan;
}

/// Adds an option of the plan's kind.
inline ModelPlan with_option(ModelPlan plan, const std::string& name, OptionValue value) {
  plan.positional.options[plan.positional.kind].set(name, std::move(value));
  return plan;
}

inline std::vector<Token> tiny_tokens(Index count, const std::string& name = "tokens",
                                      Index vocabulary = 11) {
  std::vector<Token> tokens;
  for (Index i = 0; i < count; ++i) {
    tokens.push_back(static_cast<Token>(random_below(random_key(5, name), static_cast<std::uint64_t>(i),
                                                     static_cast<std::uint64_t>(vocabulary))));
  }
  return tokens;
}

/// Moves every parameter away from its initial value, where attention is nearly uniform and biases are 0, so
/// that an error in any part shows; within its bounds, as the optimizer does.
inline void stir(ParameterStore& store, double deviation = 0.3) {
  for (Parameter& parameter : store.parameters()) {
    const Tensor value = parameter.mutable_value();
    const RandomKey key = random_key(17, parameter.name());
    for (Index i = 0; i < value.size(); ++i) {
      const Real moved =
          value.data[i] + static_cast<Real>(deviation * random_normal(key, static_cast<std::uint64_t>(i)));
      value.data[i] = std::clamp(moved, parameter.bounds().lowest, parameter.bounds().highest);
    }
  }
}

/// A model whose parameters have been moved so.
inline Transformer stirred(const ModelPlan& plan) {
  Transformer model(plan);
  stir(model.parameters());
  return model;
}

/// Logits of all rows, [T, V], without a tape; positions moved on by `shift`.
inline std::vector<double> full_logits(const Transformer& model, std::span<const Token> ids,
                                       Index shift = 0) {
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  pass.position_shift = shift;
  return numbers_of(model.logits(pass, model.hidden(pass, ids, 1)).value());
}

/// The same in chunks of the given sizes (the last one repeated) over a cache.
inline std::vector<double> cached_logits(const Transformer& model, std::span<const Token> ids,
                                         const std::vector<Index>& chunks) {
  KeyValueCache cache = model.make_cache(1);
  std::vector<double> all;
  std::size_t chunk = 0;
  for (std::size_t at = 0; at < ids.size();) {
    const auto rows = std::min(static_cast<std::size_t>(chunks[chunk]), ids.size() - at);
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool, Recording::off);
    Pass pass(tape);
    pass.declared_context = static_cast<Index>(ids.size());
    const std::vector<double> some =
        numbers_of(model.logits(pass, model.hidden(pass, ids.subspan(at, rows), 1, &cache)).value());
    all.insert(all.end(), some.begin(), some.end());
    at += rows;
    if (chunk + 1 < chunks.size()) ++chunk;
  }
  return all;
}

/// What two ways of computing the same logits may differ by.
inline double cached_limit() { return sizeof(Real) == 8 ? 1e-10 : 1e-4; }

/// The kinds of this build.
inline std::vector<std::string> all_kinds() { return {built_kinds().begin(), built_kinds().end()}; }

}  // namespace tapeline::inline TAPELINE_PRECISION

#include "layers/positional/projected_sinusoids.h"

#include <algorithm>

#include "core/error.h"
#include "core/ops.h"
#include "layers/init.h"
#include "layers/positional/angles.h"
#include "layers/positional/relative_tables.h"

namespace tapeline::inline TAPELINE_PRECISION {

ProjectedSinusoids::ProjectedSinusoids(const EncodingContext& context, const Settings& settings,
                                       std::string_view key)
    : PositionalEncoding(context.head_width),
      settings_(settings),
      width_(context.width),
      causal_(context.causal),
      frequencies_(
          geometric_frequencies((context.width + 1) / 2, 10000.0, static_cast<double>(context.width) / 2)) {
  require<ConfigError>(settings.clamp >= 0, "{} = {}; it must be 0 (distances as they are) or more", key,
                       settings.clamp);
  const Shape bias{context.heads, context.head_width};
  const Shape weight{context.heads * context.head_width, context.width};
  biases_ = PerLayer<Biases>(context, settings.biases_per_layer, [&](const Scope& scope) {
    Parameter* const content = &scope.add("content_bias", {.shape = bias, .initializer = normal()});
    return Biases{content, &scope.add("position_bias", {.shape = bias, .initializer = normal()})};
  });
  projections_ = PerLayer<Parameter*>(context, settings.projection_per_layer, [&](const Scope& scope) {
    return &scope.add("projection", {.shape = weight, .initializer = normal(), .decays = true});
  });
}

Distances ProjectedSinusoids::held(const Distances& met) const {
  if (settings_.clamp == 0) return met;
  const Index first = std::max(met.first, -settings_.clamp), last = std::min(met.last(), settings_.clamp);
  return {.first = first, .count = last - first + 1};
}

Var ProjectedSinusoids::projected(Pass& pass, const Distances& distances, Index layer) const {
  Parameter& projection = *projections_[layer];
  return tables_.get(pass, distances, {&projection}, [&] {
    const auto make_sinusoids = [&] {
      const Tensor table = pass.tape.allocate({distances.count, width_});
      fill_angles({.begin = distances.first, .count = distances.count}, frequencies_,
                  {.sine = table.data,
                   .cosine = table.data + frequencies_.size(),
                   .stride = width_,
                   .cosines = width_ / 2});
      return pass.tape.constant(table);
    };
    return linear(pass.once(this, distances.slot(), make_sinusoids), pass.tape.leaf(projection), Var{});
  });
}

ScoreTerms ProjectedSinusoids::score_terms(Pass& pass, const PassPositions& all, Index layer) const {
  ScoreTerms terms = PositionalEncoding::score_terms(pass, all, layer);
  const Distances distances = table_distances(pass, all, causal_), with_vector = held(distances);
  RelativeVectors vectors;
  vectors.first_distance = distances.first;
  if (with_vector.count < distances.count) {
    vectors.query_index = distance_index(pass, this, distances, [&](Index distance) {
      return std::clamp(distance, with_vector.first, with_vector.last()) - with_vector.first;
    });
  }
  vectors.query_vectors = projected(pass, with_vector, layer);
  vectors.u = pass.tape.leaf(*biases_[layer].content);
  vectors.v = pass.tape.leaf(*biases_[layer].position);
  terms.term = vectors;
  return terms;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

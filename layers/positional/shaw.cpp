#include "layers/positional/shaw.h"

#include <algorithm>

#include "core/error.h"
#include "core/ops.h"
#include "layers/init.h"
#include "layers/positional/number_text.h"
#include "layers/positional/relative_tables.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr Index most_rows = Index{1} << 32;

/// 16 as in the paper, but no distance that training does not reach.
Index auto_clip(Index train_length) { return std::clamp<Index>(train_length - 1, 1, 16); }

}  // namespace

ShawPositions::ShawPositions(const EncodingContext& context, Index clip)
    : PositionalEncoding(context.head_width), clip_(clip), causal_(context.causal) {
  require<ConfigError>(clip >= 1 && clip < most_rows / 2, "positional.shaw.clip = {}; it must be 1 to {}",
                       clip, most_rows / 2 - 1);
  const Index rows = causal_ ? clip_ + 1 : 2 * clip_ + 1;
  tables_ = PerLayer<Parameter*>(context, true, [&](const Scope& scope) {
    return &scope.add("table", {.shape = {rows, context.head_width}, .initializer = normal()});
  });
}

ScoreTerms ShawPositions::score_terms(Pass& pass, const PassPositions& all, Index layer) const {
  ScoreTerms terms = PositionalEncoding::score_terms(pass, all, layer);
  const Distances distances = table_distances(pass, all, causal_);
  const Index clip = clip_, shift = causal_ ? 0 : clip;
  Parameter& table = *tables_[layer];
  RelativeVectors vectors;
  vectors.query_vectors = reshape(pass.tape.leaf(table), {1, table.shape()[0], table.shape()[1]});
  vectors.query_index = distance_index(
      pass, this, distances, [=](Index distance) { return std::clamp(distance, -clip, clip) + shift; });
  vectors.first_distance = distances.first;
  terms.term = vectors;
  return terms;
}

const EncodingKind& shaw_kind() {
  static const EncodingKind kind{
      .name = "shaw",
      .title = "relative position representations (Shaw)",
      .formula =
          "score(i, j) = (q_i . k_j + q_i . a[clip(i - j)]) / sqrt(d); the paper's second table, on the "
          "values, is left out",
      .acts_on = "scores, every layer",
      .parameters = "a layer: (clip + 1) x head width, without the causal mask (2 clip + 1) x head width",
      .beyond = "runs; every distance from clip on is one",
      .paper =
          "Shaw, Uszkoreit, Vaswani 2018, \"Self-Attention with Relative Position Representations\", "
          "arXiv:1803.02155",
      .options = {{.name = "clip",
                   .initial = std::string("auto"),
                   .help = "the largest distance with a row of its own; auto: 16, at most the trained length "
                           "- 1",
                   .choices = {"auto"},
                   .number_too = true}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        return std::make_unique<ShawPositions>(
            context,
            whole_or_auto("positional.shaw.clip", options.text("clip"), auto_clip(context.train_length), 1));
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

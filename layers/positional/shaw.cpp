#include "layers/positional/shaw.h"

#include <algorithm>

#include "core/error.h"
#include "core/ops.h"
#include "layers/init.h"
#include "layers/positional/number_text.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr Index most_rows = Index{1} << 32;

/// 16 as in the paper, but no distance that training does not reach.
Index auto_clip(Index train_length) { return std::clamp<Index>(train_length - 1, 1, 16); }

}  // namespace

ShawPositions::ShawPositions(const EncodingContext& context, const Settings& settings)
    : PositionalEncoding(settings.head_width), settings_(settings) {
  require<ConfigError>(settings.clip >= 1 && settings.clip < most_rows / 2,
                       "positional.shaw.clip = {}; it must be 1 to {}", settings.clip, most_rows / 2 - 1);
  const Index rows = settings.causal ? settings.clip + 1 : 2 * settings.clip + 1;
  for (Index layer = 0; layer < settings.layers; ++layer) {
    tables_.push_back(&layer_scope(context, layer)
                           .add("table", {.shape = {rows, settings.head_width}, .initializer = normal()}));
  }
}

ScoreTerms ShawPositions::score_terms(Pass& pass, const PassPositions& all, Index layer) const {
  ScoreTerms terms = PositionalEncoding::score_terms(pass, all, layer);
  const DistanceSpan span = distance_span(pass, all, settings_.causal);
  const Index clip = settings_.clip, shift = settings_.causal ? 0 : clip;
  Parameter& table = *tables_[static_cast<std::size_t>(layer)];
  RelativeVectors vectors;
  vectors.query_vectors = reshape(pass.tape.leaf(table), {1, table.shape()[0], table.shape()[1]});
  vectors.query_index =
      distance_index(pass, span, [=](Index distance) { return std::clamp(distance, -clip, clip) + shift; });
  vectors.first_distance = span.first;
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
            ShawPositions::Settings{.head_width = context.head_width,
                                    .layers = context.layers,
                                    .clip = whole_or_auto("positional.shaw.clip", options.text("clip"),
                                                          auto_clip(context.train_length), 1),
                                    .causal = context.causal});
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

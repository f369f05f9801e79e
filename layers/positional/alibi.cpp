#include "layers/positional/alibi.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/error.h"
#include "core/ops.h"
#include "layers/positional/number_text.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

AlibiStretch parse_stretch(const std::string& text) {
  if (text == "none") return {};
  if (text == "auto") return {.automatic = true};
  const double factor = number_of_text(text).value_or(0);
  require<ConfigError>(
      factor >= 1, "positional.alibi.interpolate = {}; it takes none, auto, or a factor of 1 or more", text);
  return {.factor = factor};
}

/// The bias of one distance for slope 1, where the sides are told apart.
double split_bias(Index distance) {
  return distance > 0 ? 0.5 - static_cast<double>(distance) : static_cast<double>(distance);
}

}  // namespace

std::vector<double> alibi_slopes(Index heads) {
  Index power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes;
  for (Index head = 1; head <= power; ++head) {
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(head) / static_cast<double>(power)));
  }
  for (Index rest = 0; rest < heads - power; ++rest) {
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(2 * rest + 1) / static_cast<double>(2 * power)));
  }
  return slopes;
}

AlibiPositions::AlibiPositions(const Scope& scope, const Settings& settings)
    : PositionalEncoding(settings.head_width), settings_(settings), slopes_(Shape{settings.heads}) {
  const std::vector<double> slopes = alibi_slopes(settings.heads);
  const auto fill = [slopes](Tensor value, RandomKey) {
    for (std::size_t h = 0; h < slopes.size(); ++h) value.data[h] = static_cast<Real>(slopes[h]);
  };
  fill(slopes_.tensor(), {});
  if (settings.learned) {
    learned_slopes_ =
        &scope.add("slopes", {.shape = {settings.heads}, .initializer = fill, .bounds = {.lowest = Real{0}}});
  }
}

// The length that the slopes are stretched for is the declared one, so that every chunk takes the same.
Var AlibiPositions::slopes_for(Pass& pass, const PassPositions& all) const {
  double factor = settings_.stretch.factor;
  if (settings_.stretch.automatic) {
    const Index context = pass.context_length(all.query);
    factor = std::max(1.0, static_cast<double>(context) / static_cast<double>(settings_.train_length));
  }
  const auto slot = static_cast<Index>(std::bit_cast<std::int64_t>(factor));
  return pass.once(this, slot, [&] {
    const Var slopes =
        learned_slopes_ != nullptr ? pass.tape.leaf(*learned_slopes_) : pass.tape.constant(slopes_.tensor());
    return factor == 1 ? slopes : scale(slopes, static_cast<Real>(1 / factor));
  });
}

Var AlibiPositions::split_table(Pass& pass, Var slopes, const Distances& distances) const {
  const OpScope watched(pass.tape, "distance_table");
  const Tensor table = pass.tape.allocate({settings_.heads, distances.count});
  for (Index head = 0; head < settings_.heads; ++head) {
    const double slope = static_cast<double>(slopes.value().data[head]);
    Real* const to = table.data + head * distances.count;
    for (Index t = 0; t < distances.count; ++t) {
      to[t] = static_cast<Real>(slope * split_bias(distances.first + t));
    }
  }
  const OpWork work{.numbers = table.size(), .backward_numbers = table.size()};
  return pass.tape.record("distance_table", table, {slopes}, work, [slopes, distances](Var output) {
    const Tensor d_table = output.grad(), d_slopes = slopes.grad();
    for (Index head = 0; head < d_slopes.size(); ++head) {
      double sum = 0;
      for (Index t = 0; t < distances.count; ++t) {
        sum +=
            static_cast<double>(d_table.data[head * distances.count + t]) * split_bias(distances.first + t);
      }
      d_slopes.data[head] += static_cast<Real>(sum);
    }
  });
}

ScoreTerms AlibiPositions::score_terms(Pass& pass, const PassPositions& all, Index layer) const {
  ScoreTerms terms = PositionalEncoding::score_terms(pass, all, layer);
  const Var slopes = slopes_for(pass, all);
  if (settings_.sides == AlibiSides::symmetric) {
    terms.term = LinearBias{slopes};
    return terms;
  }
  const Distances distances = distances_of(all, settings_.causal);
  // A table of these very slopes: they have a place of their own for every factor of the pass.
  const Var table =
      pass.once(slopes.value().data, distances.slot(), [&] { return split_table(pass, slopes, distances); });
  terms.term = DistanceBias{table, distances.first};
  return terms;
}

const EncodingKind& alibi_kind() {
  static const EncodingKind kind{
      .name = "alibi",
      .title = "attention with linear biases (ALiBi)",
      .formula = "score(i, j) = q_i . k_j / sqrt(d) - m_h |i - j|, m_h = 2^(-8h/H) for H a power of two",
      .acts_on = "scores, every layer",
      .parameters = "none; one a head with learned = true",
      .beyond = "runs; holds its quality",
      .paper =
          "Press, Smith, Lewis 2022, \"Train Short, Test Long: Attention with Linear Biases Enables "
          "Input Length Extrapolation\", arXiv:2108.12409",
      .options = {{.name = "learned", .initial = false, .help = "train the slopes, from the fixed ones on"},
                  {.name = "symmetric",
                   .initial = std::string("auto"),
                   .help = "keys after the query, where no causal mask hides them: auto and yes: as those "
                           "before it; split: half a slope less, so that the sides differ (with the mask: "
                           "half a slope less for the query's own key)",
                   .choices = {"auto", "yes", "split"}},
                  {.name = "interpolate",
                   .initial = std::string("none"),
                   .help = "the slopes are divided by this factor; auto: by context / trained length in a "
                           "longer context",
                   .choices = {"none", "auto"},
                   .number_too = true,
                   .after_training = true}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        return std::make_unique<AlibiPositions>(
            context.scope,
            AlibiPositions::Settings{
                .heads = context.heads,
                .head_width = context.head_width,
                .train_length = context.train_length,
                .causal = context.causal,
                .learned = options.flag("learned"),
                .sides = options.text("symmetric") == "split" ? AlibiSides::split : AlibiSides::symmetric,
                .stretch = parse_stretch(options.text("interpolate"))});
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

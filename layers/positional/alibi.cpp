#include "layers/positional/alibi.h"

#include <cmath>

namespace tapeline::inline TAPELINE_PRECISION {

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
    : PositionalEncoding(settings.head_width), slopes_(Shape{settings.heads}) {
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

ScoreTerms AlibiPositions::score_terms(Pass& pass, const PassPositions& all, Index layer) const {
  ScoreTerms terms = PositionalEncoding::score_terms(pass, all, layer);
  terms.term = LinearBias{learned_slopes_ != nullptr ? pass.tape.leaf(*learned_slopes_)
                                                     : pass.tape.constant(slopes_.tensor())};
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
      .options = {{.name = "learned", .initial = false, .help = "train the slopes, from the fixed ones on"}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        return std::make_unique<AlibiPositions>(context.scope,
                                                AlibiPositions::Settings{.heads = context.heads,
                                                                         .head_width = context.head_width,
                                                                         .learned = options.flag("learned")});
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

#include "layers/positional/kerple.h"

#include <algorithm>
#include <cmath>

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr Real lowest = static_cast<Real>(0.01);

/// Uniform between 0 and `highest`, cut off at the bound below.
Initializer uniform(double highest) {
  return [highest](Tensor value, RandomKey key) {
    for (Index i = 0; i < value.size(); ++i) {
      const double drawn = highest * random_uniform(key, static_cast<std::uint64_t>(i));
      value.data[i] = std::max(lowest, static_cast<Real>(drawn));
    }
  };
}

double size_of(Index distance) { return static_cast<double>(std::abs(distance)); }

}  // namespace

KerplePositions::KerplePositions(const EncodingContext& context, const Settings& settings)
    : DistanceEncoding({.heads = context.heads,
                        .head_width = context.head_width,
                        .causal = context.causal,
                        .sets = settings.per_layer ? context.layers : 1}),
      form_(settings.form) {
  const bool power = settings.form == KerpleForm::power;
  const ParameterSpec outer{
      .shape = {context.heads}, .initializer = uniform(power ? 1 : 2), .bounds = {.lowest = lowest}};
  ParameterSpec inner{
      .shape = {context.heads}, .initializer = uniform(power ? 2 : 1), .bounds = {.lowest = lowest}};
  if (power) inner.bounds.highest = 2;
  pairs_ = PerLayer<Pair>(context, settings.per_layer, [&](const Scope& scope) {
    Parameter* const first = &scope.add("r1", outer);
    return Pair{first, &scope.add("r2", inner)};
  });
}

DistanceEncoding::Weights KerplePositions::weights(Index set) const {
  return {pairs_[set].outer, pairs_[set].inner};
}

void KerplePositions::fill(Index set, const DistanceRows& rows) const {
  const auto [outer, inner] = weights(set);
  for (Index head = 0; head < heads(); ++head) {
    const double r1 = static_cast<double>(outer->value().data[head]);
    const double r2 = static_cast<double>(inner->value().data[head]);
    Real* const to = rows.to + head * rows.stride;
    for (Index t = 0; t < rows.count; ++t) {
      const double d = size_of(rows.first + t);
      const double kernel = form_ == KerpleForm::logarithm ? std::log1p(r2 * d) : std::pow(d, r2);
      to[t] = d == 0 ? Real{0} : static_cast<Real>(-r1 * kernel);
    }
  }
}

// Distance 0 has bias 0 whatever the weights; the derivative of 0^r2 would be 0 times minus infinity.
void KerplePositions::add_gradients(const Tensor& d_table, Index first, Var outer, Var inner) const {
  const Index count = d_table.shape[1];
  for (Index head = 0; head < heads(); ++head) {
    const double r1 = static_cast<double>(outer.value().data[head]);
    const double r2 = static_cast<double>(inner.value().data[head]);
    double d_r1 = 0, d_r2 = 0;
    for (Index t = 0; t < count; ++t) {
      const double d = size_of(first + t);
      const double d_bias = static_cast<double>(d_table.data[head * count + t]);
      if (d == 0 || d_bias == 0) continue;
      if (form_ == KerpleForm::logarithm) {
        d_r1 -= d_bias * std::log1p(r2 * d);
        d_r2 -= d_bias * r1 * d / (1 + r2 * d);
      } else {
        const double power = std::pow(d, r2);
        d_r1 -= d_bias * power;
        d_r2 -= d_bias * r1 * power * std::log(d);
      }
    }
    if (outer.needs_grad()) outer.grad().data[head] += static_cast<Real>(d_r1);
    if (inner.needs_grad()) inner.grad().data[head] += static_cast<Real>(d_r2);
  }
}

OptionField kerple_per_layer() {
  return {.name = "per_layer",
          .initial = false,
          .help = "a pair of numbers for each head of each layer, instead of one for all layers"};
}

std::unique_ptr<PositionalEncoding> make_kerple(KerpleForm form, const OptionValues& options,
                                                const EncodingContext& context) {
  return std::make_unique<KerplePositions>(
      context, KerplePositions::Settings{.form = form, .per_layer = options.flag("per_layer")});
}

}  // namespace tapeline::inline TAPELINE_PRECISION

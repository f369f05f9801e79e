#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/support/attention_cases.h"

/// Attention with a row-normalised bias, by loops and by the op.
namespace tapeline::inline TAPELINE_PRECISION {

/// A case of attention with a row-normalised bias; the vectors are its operands.
struct RowNormalizedCase {
  AttentionCase attention;
  Index first_distance = 0;
  std::vector<double> numerator = {}, denominator = {}, cuts = {}, slopes = {}, intercepts = {};

  Index segments() const { return static_cast<Index>(cuts.size()) + 1; }
};

/// Operands for a case: numerators that grow, fall and are negative in part, a function with steps, and two
/// cuts that no ratio reaches.
inline RowNormalizedCase with_operands(const AttentionCase& attention, Index first_distance, Index span,
                                       std::vector<double> cuts = {-0.31, -0.0512, 0.2013, 0.4021, 0.4022,
                                                                   0.9017, HUGE_VAL, HUGE_VAL}) {
  RowNormalizedCase c{attention, first_distance};
  c.numerator = spread(span, -0.6, 1.9);
  c.denominator = spread(attention.query_rows, 0.8, 2.1);
  c.cuts = std::move(cuts);
  c.slopes = spread(attention.heads * c.segments(), -1.5, 1.5);
  c.intercepts = spread(attention.heads * c.segments(), -1, 0.7);
  return c;
}

struct RowNormalizedOutcome {
  AttentionOutcome attention;
  std::vector<double> d_numerator, d_denominator, d_slopes, d_intercepts;
};

/// The operands as the op sees them, rounded to Real.
struct RowNormalizedInputs {
  AttentionInputs attention;
  Storage numerator, denominator, cuts, slopes, intercepts;

  explicit RowNormalizedInputs(const RowNormalizedCase& c)
      : attention(c.attention),
        numerator(filled_storage({static_cast<Index>(c.numerator.size())}, c.numerator)),
        denominator(filled_storage({c.attention.query_rows}, c.denominator)),
        cuts(filled_storage({c.segments() - 1}, c.cuts)),
        slopes(filled_storage({c.attention.heads, c.segments()}, c.slopes)),
        intercepts(filled_storage({c.attention.heads, c.segments()}, c.intercepts)) {}
};

/// By loops, every pair on its own.
inline RowNormalizedOutcome naive_bias(const RowNormalizedCase& c, const RowNormalizedInputs& inputs) {
  const std::vector<double> numerator = numbers_of(inputs.numerator.tensor()),
                            denominator = numbers_of(inputs.denominator.tensor()),
                            cuts = numbers_of(inputs.cuts.tensor()),
                            slopes = numbers_of(inputs.slopes.tensor()),
                            intercepts = numbers_of(inputs.intercepts.tensor());
  RowNormalizedOutcome o;
  o.d_numerator.resize(numerator.size());
  o.d_denominator.resize(denominator.size());
  o.d_slopes.resize(slopes.size());
  o.d_intercepts.resize(intercepts.size());
  struct Place {
    std::size_t distance, row, segment;
    double x;
  };
  const auto place_of = [&](Index h, Index i, Index j) {
    Place at{static_cast<std::size_t>(c.attention.distance(i, j) - c.first_distance),
             static_cast<std::size_t>(i), 0, 0};
    at.x = numerator.at(at.distance) / denominator.at(at.row);
    const auto passed = std::ranges::count_if(cuts, [&](double cut) { return cut <= at.x; });
    at.segment = static_cast<std::size_t>(h * c.segments() + passed);
    return at;
  };
  AttentionCase biased = c.attention;
  biased.bias = [&](Index h, Index i, Index j) {
    const Place at = place_of(h, i, j);
    return slopes[at.segment] * at.x + intercepts[at.segment];
  };
  biased.take_d_score = [&](Index h, Index i, Index j, double d_score) {
    const Place at = place_of(h, i, j);
    o.d_slopes[at.segment] += d_score * at.x;
    o.d_intercepts[at.segment] += d_score;
    const double d_x = d_score * slopes[at.segment];
    o.d_numerator[at.distance] += d_x / denominator[at.row];
    o.d_denominator[at.row] -= d_x * at.x / denominator[at.row];
  };
  o.attention = naive_attention(biased, inputs.attention);
  return o;
}

inline ScoreTerms terms_of(const RowNormalizedCase& c, const RowNormalizedBias& term) {
  ScoreTerms terms;
  terms.scale = static_cast<Real>(c.attention.scale());
  terms.mask = c.attention.mask;
  terms.positions = c.attention.positions();
  terms.term = term;
  return terms;
}

/// By the op, forward and backward.
inline RowNormalizedOutcome run_bias(const RowNormalizedCase& c, const RowNormalizedInputs& inputs) {
  TestTape tape;
  const Var q = tape->variable(inputs.attention.q.tensor()), k = tape->variable(inputs.attention.k.tensor()),
            v = tape->variable(inputs.attention.v.tensor());
  const RowNormalizedBias term{
      tape->variable(inputs.numerator.tensor()),   c.first_distance,
      tape->variable(inputs.denominator.tensor()), tape->constant(inputs.cuts.tensor()),
      tape->variable(inputs.slopes.tensor()),      tape->variable(inputs.intercepts.tensor())};
  ScoreTerms terms = terms_of(c, term);
  if (!c.attention.query_scale.empty())
    terms.query_scale = tape->variable(inputs.attention.query_scale.tensor());
  const Var out = attention(q, k, v, terms, c.attention.dropout);
  RowNormalizedOutcome o;
  o.attention.out = numbers_of(out.value());
  tape->backward(weighted_sum(out, inputs.attention.d_out.tensor()));
  o.attention.d_q = numbers_of(q.grad());
  o.attention.d_k = numbers_of(k.grad());
  o.attention.d_v = numbers_of(v.grad());
  o.d_numerator = numbers_of(term.numerator.grad());
  o.d_denominator = numbers_of(term.denominator.grad());
  o.d_slopes = numbers_of(term.slopes.grad());
  o.d_intercepts = numbers_of(term.intercepts.grad());
  return o;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

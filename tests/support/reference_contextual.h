#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/reference_attention.h"

/// Attention with positions counted by content as plain loops over a whole length x length table in double.
namespace tapeline::inline TAPELINE_PRECISION {

/// A case and its table of contextual positions, [rows, width].
struct ContextualCase {
  AttentionCase attention;
  Index rows = 4;
  bool scaled = true;

  Shape table_shape() const { return {rows, attention.width}; }
};

struct ContextualOutcome {
  std::vector<double> out, d_q, d_k, d_v, d_table;
};

namespace contextual {

inline double dot(const double* a, const double* b, Index count) {
  double sum = 0;
  for (Index c = 0; c < count; ++c) sum += a[c] * b[c];
  return sum;
}

/// One query row: what it adds to the output and, given the weights of its output, to the gradients.
struct Row {
  const ContextualCase& c;
  const double *query, *keys, *values, *table;  // [D], [Tk, D], [Tk, D], [N, D]
  Index number;                                 // of the row among the query rows
  std::vector<double> gate, position, score;

  Row(const ContextualCase& of, const double* q, const double* k, const double* v, const double* e, Index i)
      : c(of), query(q), keys(k), values(v), table(e), number(i) {
    const auto count = static_cast<std::size_t>(c.attention.key_rows);
    gate.assign(count, 0), position.assign(count, 0), score.assign(count, -HUGE_VAL);
    const Index width = c.attention.width;
    const double scale = c.attention.scale();
    double total = 0;
    for (std::size_t j = count; j-- > 0;) {
      if (!c.attention.sees(number, static_cast<Index>(j))) continue;
      const double product = scale * dot(query, keys + static_cast<Index>(j) * width, width);
      gate[j] = 1 / (1 + std::exp(-product));
      total += gate[j];
      position[j] = std::min(total, static_cast<double>(c.rows - 1));
      score[j] = product + table_factor() * (weight(j) * dot(query, row(j, 1), width) +
                                             (1 - weight(j)) * dot(query, row(j, 0), width));
    }
  }

  double table_factor() const { return c.scaled ? c.attention.scale() : 1; }
  Index below(std::size_t j) const { return std::min(static_cast<Index>(position[j]), c.rows - 2); }
  double weight(std::size_t j) const { return position[j] - static_cast<double>(below(j)); }
  const double* row(std::size_t j, Index step) const { return table + (below(j) + step) * c.attention.width; }
  bool clipped(std::size_t j) const { return position[j] >= static_cast<double>(c.rows - 1); }

  /// d_score [Tk] is the gradient by the scores; the gates pass on what comes by the positions.
  void differentiate(const std::vector<double>& d_score, double* d_q, double* d_k, double* d_table) const {
    const Index width = c.attention.width;
    double d_positions = 0;  // the sum over the keys so far, all of whose positions this gate is part of
    for (std::size_t j = 0; j < d_score.size(); ++j) {
      if (!c.attention.sees(number, static_cast<Index>(j))) continue;
      for (Index e = 0; e < width; ++e) {
        const double w = weight(j), f = table_factor() * d_score[j];
        d_table[below(j) * width + e] += f * (1 - w) * query[e];
        d_table[(below(j) + 1) * width + e] += f * w * query[e];
        d_q[e] += f * ((1 - w) * row(j, 0)[e] + w * row(j, 1)[e]);
      }
      if (!clipped(j)) {
        d_positions +=
            d_score[j] * table_factor() * (dot(query, row(j, 1), width) - dot(query, row(j, 0), width));
      }
      const double d_product = d_score[j] + gate[j] * (1 - gate[j]) * d_positions;
      const double* const key = keys + static_cast<Index>(j) * width;
      for (Index e = 0; e < width; ++e) {
        d_q[e] += c.attention.scale() * d_product * key[e];
        d_k[static_cast<Index>(j) * width + e] += c.attention.scale() * d_product * query[e];
      }
    }
  }
};

}  // namespace contextual

/// By loops. No dropout.
inline ContextualOutcome naive_contextual(const ContextualCase& c, const AttentionInputs& inputs,
                                          const Storage& table) {
  const AttentionCase& a = c.attention;
  const std::vector<double> q = numbers_of(inputs.q.tensor()), k = numbers_of(inputs.k.tensor()),
                            v = numbers_of(inputs.v.tensor()), d_out = numbers_of(inputs.d_out.tensor()),
                            e = numbers_of(table.tensor());
  const auto zeros = [](std::size_t count) { return std::vector<double>(count, 0.0); };
  ContextualOutcome o{zeros(q.size()), zeros(q.size()), zeros(k.size()), zeros(v.size()), zeros(e.size())};
  for (Index place = 0; place < a.batch * a.heads * a.query_rows; ++place) {
    const Index i = place % a.query_rows, head = place / a.query_rows % a.heads,
                batch = place / a.query_rows / a.heads;
    const Index at = place * a.width,
                keys = (batch * a.key_heads + head / (a.heads / a.key_heads)) * a.key_rows * a.width;
    const contextual::Row row(c, q.data() + at, k.data() + keys, v.data() + keys, e.data(), i);
    const std::vector<double> p = naive_softmax(row.score, a.key_rows);
    std::vector<double> d_score(p.size(), 0.0);
    double delta = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      const Index value = keys + static_cast<Index>(j) * a.width;
      for (Index f = 0; f < a.width; ++f) {
        o.out[static_cast<std::size_t>(at + f)] += p[j] * v[static_cast<std::size_t>(value + f)];
        o.d_v[static_cast<std::size_t>(value + f)] += p[j] * d_out[static_cast<std::size_t>(at + f)];
      }
      d_score[j] = contextual::dot(d_out.data() + at, v.data() + value, a.width);
      delta += p[j] * d_score[j];
    }
    for (std::size_t j = 0; j < p.size(); ++j) d_score[j] = p[j] * (d_score[j] - delta);
    row.differentiate(d_score, o.d_q.data() + at, o.d_k.data() + keys, o.d_table.data());
  }
  return o;
}

/// What the op gets.
inline ScoreTerms contextual_terms(const ContextualCase& c, Var table) {
  ScoreTerms terms;
  terms.scale = static_cast<Real>(c.attention.scale());
  terms.mask = c.attention.mask;
  terms.positions = c.attention.positions();
  terms.term = ContextualPositions{table, c.scaled};
  return terms;
}

/// By the op, forward and backward.
inline ContextualOutcome run_contextual(const ContextualCase& c, const AttentionInputs& inputs,
                                        const Storage& table) {
  TestTape tape;
  const Var q = tape->variable(inputs.q.tensor()), k = tape->variable(inputs.k.tensor()),
            v = tape->variable(inputs.v.tensor()), e = tape->variable(table.tensor());
  const Var out = attention(q, k, v, contextual_terms(c, e), c.attention.dropout);
  ContextualOutcome o;
  o.out = numbers_of(out.value());
  tape->backward(weighted_sum(out, inputs.d_out.tensor()));
  o.d_q = numbers_of(q.grad());
  o.d_k = numbers_of(k.grad());
  o.d_v = numbers_of(v.grad());
  o.d_table = numbers_of(e.grad());
  return o;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

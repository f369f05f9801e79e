#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/attention.h"
#include "core/dropout_counter.h"
#include "core/tape.h"
#include "tests/support/reference.h"

/// Attention as plain loops over a whole length x length table in double, and one description of a case from
/// which both it and the op are run.
namespace tapeline::inline TAPELINE_PRECISION {

/// One case. An empty vector: that option is absent.
struct AttentionCase {
  std::string name;
  Index batch = 1, heads = 1, key_heads = 1, query_rows = 1, key_rows = 1, width = 1;
  KeyMask mask{};
  std::vector<double> query_scale = {};  // [Tq] or [H, Tq]
  std::vector<double> slopes = {};       // [H]
  std::vector<double> table = {};        // [H, span]
  Index first_distance = 0;
  std::vector<Index> query_positions = {}, key_positions = {};
  Dropout dropout{};
  // For terms with a reference of their own: what is added to the score of (h, i, j), and what takes dS of
  // (h, i, j). The op gets such a term from the test.
  std::function<double(Index, Index, Index)> bias = {};
  std::function<void(Index, Index, Index, double)> take_d_score = {};

  double scale() const { return 1 / std::sqrt(static_cast<double>(width)); }
  Index first_row() const { return key_rows - query_rows; }
  Index span() const { return static_cast<Index>(table.size()) / heads; }
  Index distance(Index i, Index j) const {
    const Index query =
        query_positions.empty() ? first_row() + i : query_positions[static_cast<std::size_t>(i)];
    return query - (key_positions.empty() ? j : key_positions[static_cast<std::size_t>(j)]);
  }
  bool sees(Index i, Index j) const {
    const Index rows = first_row() + i - j;
    if (mask.causal && rows < 0) return false;
    return mask.window == 0 || rows < mask.window || j < mask.sinks;
  }
  Shape query_shape() const { return {batch, heads, query_rows, width}; }
  Shape key_shape() const { return {batch, key_heads, key_rows, width}; }

  /// As the op wants it.
  PassPositions positions() const {
    PassPositions all;
    all.query = {first_row(), query_rows, {query_positions}};
    all.key = {0, key_rows, {key_positions}};
    return all;
  }
};

/// The numbers of a case and the weights of its output in the loss.
struct AttentionInputs {
  Storage q, k, v, d_out;
  Storage query_scale, slopes, table;  // empty when absent

  explicit AttentionInputs(const AttentionCase& c)
      : q(random_storage(c.query_shape(), "q")),
        k(random_storage(c.key_shape(), "k")),
        v(random_storage(c.key_shape(), "v")),
        d_out(random_storage(c.query_shape(), "d_out")) {
    if (!c.query_scale.empty()) {
      query_scale = filled_storage(static_cast<Index>(c.query_scale.size()) == c.query_rows
                                       ? Shape{c.query_rows}
                                       : Shape{c.heads, c.query_rows},
                                   c.query_scale);
    }
    if (!c.slopes.empty()) slopes = filled_storage({c.heads}, c.slopes);
    if (!c.table.empty()) table = filled_storage({c.heads, c.span()}, c.table);
  }
};

/// Output and gradients of one case; what is absent stays empty.
struct AttentionOutcome {
  std::vector<double> out, d_q, d_k, d_v, d_query_scale, d_slopes, d_table;
  // [H], as AttentionProbe has them
  std::vector<double> entropy, normalized_entropy, sink_mass, distance, normalized_distance;
};

/// By loops: the whole table of probabilities, then every sum written out.
inline AttentionOutcome naive_attention(const AttentionCase& c, const AttentionInputs& inputs,
                                        Index probe_sinks = 4) {
  const auto at = [](const std::vector<double>& x, Index n) { return x[static_cast<std::size_t>(n)]; };
  const std::vector<double> q = numbers_of(inputs.q.tensor()), k = numbers_of(inputs.k.tensor()),
                            v = numbers_of(inputs.v.tensor()), d_out = numbers_of(inputs.d_out.tensor());
  const auto present = [](const Storage& storage) {
    return storage.data() == nullptr ? std::vector<double>{} : numbers_of(storage.tensor());
  };
  const std::vector<double> slopes = present(inputs.slopes), table = present(inputs.table),
                            row_scale = present(inputs.query_scale);
  const auto zeros = [](std::size_t count) { return std::vector<double>(count, 0.0); };
  AttentionOutcome o{zeros(q.size()),
                     zeros(q.size()),
                     zeros(k.size()),
                     zeros(v.size()),
                     zeros(c.query_scale.size()),
                     zeros(c.slopes.size()),
                     zeros(c.table.size()),
                     zeros(static_cast<std::size_t>(c.heads)),
                     zeros(static_cast<std::size_t>(c.heads)),
                     zeros(static_cast<std::size_t>(c.heads)),
                     zeros(static_cast<std::size_t>(c.heads)),
                     zeros(static_cast<std::size_t>(c.heads))};
  const DropoutCounter counter(c.dropout.key, c.dropout.rate);
  const Index d = c.width;
  for (Index b = 0; b < c.batch; ++b) {
    for (Index h = 0; h < c.heads; ++h) {
      const Index key_base = (b * c.key_heads + h / (c.heads / c.key_heads)) * c.key_rows * d;
      for (Index i = 0; i < c.query_rows; ++i) {
        const Index query = ((b * c.heads + h) * c.query_rows + i) * d;
        const Index scale_place =
            static_cast<Index>(c.query_scale.size()) == c.query_rows ? i : h * c.query_rows + i;
        const double factor = c.scale() * (c.query_scale.empty() ? 1 : at(row_scale, scale_place));
        std::vector<double> p(static_cast<std::size_t>(c.key_rows), -HUGE_VAL), product(p.size(), 0.0);
        Index seen = 0, farthest = 0;  // keys, and the distance of the first of them
        double distance = 0;
        for (Index j = 0; j < c.key_rows; ++j) {
          if (!c.sees(i, j)) continue;
          if (seen++ == 0) farthest = c.first_row() + i - j;
          double dot = 0;
          for (Index e = 0; e < d; ++e) dot += at(q, query + e) * at(k, key_base + j * d + e);
          double score = factor * dot;
          if (!c.slopes.empty()) score -= at(slopes, h) * std::abs(static_cast<double>(c.distance(i, j)));
          if (!c.table.empty()) score += at(table, h * c.span() + c.distance(i, j) - c.first_distance);
          if (c.bias) score += c.bias(h, i, j);
          product[static_cast<std::size_t>(j)] = dot;
          p[static_cast<std::size_t>(j)] = score;
        }
        p = naive_softmax(p, c.key_rows);
        std::vector<double> keep(p.size(), 1.0), d_p(p.size(), 0.0);
        double delta = 0, entropy = 0;
        for (Index j = 0; j < c.key_rows; ++j) {
          const auto place = static_cast<std::size_t>(j);
          if (c.dropout.rate > 0) {
            keep[place] = counter.keeps(c.dropout.first_sequence + b, h, c.first_row() + i, j)
                              ? 1 / (1 - c.dropout.rate)
                              : 0;
          }
          for (Index e = 0; e < d; ++e) {
            const auto feature = static_cast<std::size_t>(e);
            const auto value = static_cast<std::size_t>(key_base + j * d) + feature;
            const auto out = static_cast<std::size_t>(query) + feature;
            o.out[out] += p[place] * keep[place] * v[value];
            o.d_v[value] += p[place] * keep[place] * d_out[out];
            d_p[place] += keep[place] * d_out[out] * v[value];
          }
          delta += p[place] * d_p[place];
          if (p[place] > 0) entropy -= p[place] * std::log(p[place]);
          if (j < probe_sinks) o.sink_mass[static_cast<std::size_t>(h)] += p[place];
          distance += p[place] * static_cast<double>(c.first_row() + i - j);
        }
        o.entropy[static_cast<std::size_t>(h)] += entropy;
        o.distance[static_cast<std::size_t>(h)] += distance;
        if (seen > 1) {
          o.normalized_entropy[static_cast<std::size_t>(h)] += entropy / std::log(static_cast<double>(seen));
          o.normalized_distance[static_cast<std::size_t>(h)] += distance / static_cast<double>(farthest);
        }
        for (Index j = 0; j < c.key_rows; ++j) {
          const auto place = static_cast<std::size_t>(j);
          const double d_score = p[place] * (d_p[place] - delta);
          if (d_score == 0) continue;
          for (Index e = 0; e < d; ++e) {
            o.d_q[static_cast<std::size_t>(query + e)] += factor * d_score * at(k, key_base + j * d + e);
            o.d_k[static_cast<std::size_t>(key_base + j * d + e)] += factor * d_score * at(q, query + e);
          }
          if (!c.query_scale.empty()) {
            o.d_query_scale[static_cast<std::size_t>(scale_place)] += c.scale() * d_score * product[place];
          }
          if (c.take_d_score) c.take_d_score(h, i, j, d_score);
          if (!c.slopes.empty()) {
            o.d_slopes[static_cast<std::size_t>(h)] -=
                d_score * std::abs(static_cast<double>(c.distance(i, j)));
          }
          if (!c.table.empty()) {
            o.d_table[static_cast<std::size_t>(h * c.span() + c.distance(i, j) - c.first_distance)] +=
                d_score;
          }
        }
      }
    }
  }
  return o;
}

/// What the op gets from a case, its learned parts as gradient-carrying variables.
inline ScoreTerms attention_terms(Tape& tape, const AttentionCase& c, const AttentionInputs& inputs) {
  ScoreTerms terms;
  terms.scale = static_cast<Real>(c.scale());
  terms.mask = c.mask;
  terms.positions = c.positions();
  if (!c.query_scale.empty()) terms.query_scale = tape.variable(inputs.query_scale.tensor());
  if (!c.slopes.empty()) terms.term = LinearBias{tape.variable(inputs.slopes.tensor())};
  if (!c.table.empty()) terms.term = DistanceBias{tape.variable(inputs.table.tensor()), c.first_distance};
  return terms;
}

/// By the op, forward and backward.
inline AttentionOutcome run_attention(const AttentionCase& c, const AttentionInputs& inputs,
                                      AttentionProbe* probe = nullptr) {
  TestTape tape;
  const Var q = tape->variable(inputs.q.tensor()), k = tape->variable(inputs.k.tensor()),
            v = tape->variable(inputs.v.tensor());
  const ScoreTerms terms = attention_terms(*tape, c, inputs);
  const Var out = attention(q, k, v, terms, c.dropout, probe);
  AttentionOutcome o;
  o.out = numbers_of(out.value());
  tape->backward(weighted_sum(out, inputs.d_out.tensor()));
  o.d_q = numbers_of(q.grad());
  o.d_k = numbers_of(k.grad());
  o.d_v = numbers_of(v.grad());
  if (terms.query_scale) o.d_query_scale = numbers_of(terms.query_scale.grad());
  if (const auto* linear = std::get_if<LinearBias>(&terms.term))
    o.d_slopes = numbers_of(linear->slopes.grad());
  if (const auto* bias = std::get_if<DistanceBias>(&terms.term)) o.d_table = numbers_of(bias->table.grad());
  return o;
}

/// max |a - b| / max(1, |b|); infinite where sizes differ or a number is not one.
inline double attention_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double worst = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    const double difference = std::abs(a[n] - b[n]) / std::max(1.0, std::abs(b[n]));
    if (!(difference <= worst)) worst = std::isnan(difference) ? HUGE_VAL : difference;
  }
  return worst;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

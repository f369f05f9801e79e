#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/reference_attention.h"

/// Attention with RelativeVectors as plain loops over all pairs in double, beside reference_attention.h.
namespace tapeline::inline TAPELINE_PRECISION {

/// How the tables stand.
enum class TableForm { by_head, shared, side_by_side };

struct RelativeCase {
  AttentionCase base;
  Index rows = 0;
  Index first_distance = 0;
  bool query = true, key = false, biases = false;  // r; p; u and v (v with r only)
  TableForm form = TableForm::by_head;
  std::vector<Index> query_index = {}, key_index = {};

  Index heads() const { return form == TableForm::shared ? 1 : base.heads; }
  Shape table_shape() const {
    if (form == TableForm::side_by_side) return {rows, base.heads * base.width};
    return {heads(), rows, base.width};
  }
  /// Where the vector of a head and a distance begins in its table.
  std::size_t place(const std::vector<Index>& index, Index head, Index distance) const {
    const Index n = distance - first_distance;
    const Index row = index.empty() ? n : index[static_cast<std::size_t>(n)];
    const Index width = base.width;
    if (form == TableForm::side_by_side) {
      return static_cast<std::size_t>(row * base.heads * width + head * width);
    }
    return static_cast<std::size_t>(((form == TableForm::shared ? 0 : head) * rows + row) * width);
  }
  /// Where the bias of a head begins.
  std::size_t of_head(Index head) const { return static_cast<std::size_t>(head * base.width); }
};

struct RelativeInputs {
  AttentionInputs base;
  Storage r, p, u, v;  // empty when absent

  explicit RelativeInputs(const RelativeCase& c) : base(c.base) {
    const Shape biases{c.base.heads, c.base.width};
    if (c.query) r = random_storage(c.table_shape(), "r", 0.7);
    if (c.key) p = random_storage(c.table_shape(), "p", 0.7);
    if (c.biases) u = random_storage(biases, "u", 0.7);
    if (c.biases && c.query) v = random_storage(biases, "v bias", 0.7);
  }
};

struct RelativeOutcome {
  std::vector<double> out, d_q, d_k, d_v, d_query_scale, d_r, d_p, d_u, d_v_bias;
};

/// By loops.
inline RelativeOutcome naive_relative_attention(const RelativeCase& c, const RelativeInputs& inputs) {
  const AttentionCase& b = c.base;
  const auto present = [](const Storage& storage) {
    return storage.data() == nullptr ? std::vector<double>{} : numbers_of(storage.tensor());
  };
  const std::vector<double> q = present(inputs.base.q), k = present(inputs.base.k),
                            v = present(inputs.base.v), d_out = present(inputs.base.d_out),
                            row_scale = present(inputs.base.query_scale), r = present(inputs.r),
                            p = present(inputs.p), u = present(inputs.u), v_bias = present(inputs.v);
  RelativeOutcome o;
  o.out.resize(q.size()), o.d_q.resize(q.size()), o.d_k.resize(k.size()), o.d_v.resize(v.size());
  o.d_query_scale.resize(row_scale.size());
  o.d_r.resize(r.size()), o.d_p.resize(p.size()), o.d_u.resize(u.size()), o.d_v_bias.resize(v_bias.size());
  const auto width = static_cast<std::size_t>(b.width);
  for (Index batch = 0; batch < b.batch; ++batch) {
    for (Index h = 0; h < b.heads; ++h) {
      const Index key_base = (batch * b.key_heads + h / (b.heads / b.key_heads)) * b.key_rows;
      for (Index i = 0; i < b.query_rows; ++i) {
        const auto qi = static_cast<std::size_t>(((batch * b.heads + h) * b.query_rows + i) * b.width);
        const auto scale_place = static_cast<std::size_t>(
            static_cast<Index>(row_scale.size()) == b.query_rows ? i : h * b.query_rows + i);
        const double factor = b.scale() * (row_scale.empty() ? 1 : row_scale[scale_place]);
        std::vector<double> weights(static_cast<std::size_t>(b.key_rows), -HUGE_VAL), sums(weights.size());
        for (Index j = 0; j < b.key_rows; ++j) {
          if (!b.sees(i, j)) continue;
          const auto kj = static_cast<std::size_t>((key_base + j) * b.width);
          double sum = 0;
          for (std::size_t e = 0; e < width; ++e) {
            sum += (q[qi + e] + (u.empty() ? 0 : u[c.of_head(h) + e])) * k[kj + e];
            if (c.query) {
              sum += (q[qi + e] + (v_bias.empty() ? 0 : v_bias[c.of_head(h) + e])) *
                     r[c.place(c.query_index, h, b.distance(i, j)) + e];
            }
            if (c.key) sum += k[kj + e] * p[c.place(c.key_index, h, b.distance(i, j)) + e];
          }
          sums[static_cast<std::size_t>(j)] = sum;
          weights[static_cast<std::size_t>(j)] = factor * sum;
        }
        weights = naive_softmax(weights, b.key_rows);
        std::vector<double> d_weights(weights.size());
        double delta = 0;
        for (Index j = 0; j < b.key_rows; ++j) {
          const auto at = static_cast<std::size_t>(j);
          const auto kj = static_cast<std::size_t>((key_base + j) * b.width);
          for (std::size_t e = 0; e < width; ++e) {
            o.out[qi + e] += weights[at] * v[kj + e];
            o.d_v[kj + e] += weights[at] * d_out[qi + e];
            d_weights[at] += d_out[qi + e] * v[kj + e];
          }
          delta += weights[at] * d_weights[at];
        }
        for (Index j = 0; j < b.key_rows; ++j) {
          const auto at = static_cast<std::size_t>(j);
          const auto kj = static_cast<std::size_t>((key_base + j) * b.width);
          const double d_score = weights[at] * (d_weights[at] - delta), g = factor * d_score;
          if (!b.sees(i, j)) continue;
          if (!row_scale.empty()) o.d_query_scale[scale_place] += b.scale() * d_score * sums[at];
          for (std::size_t e = 0; e < width; ++e) {
            const std::size_t head = c.of_head(h) + e;
            o.d_q[qi + e] += g * k[kj + e];
            o.d_k[kj + e] += g * (q[qi + e] + (u.empty() ? 0 : u[head]));
            if (!u.empty()) o.d_u[head] += g * k[kj + e];
            if (c.query) {
              const std::size_t row = c.place(c.query_index, h, b.distance(i, j)) + e;
              o.d_q[qi + e] += g * r[row];
              o.d_r[row] += g * (q[qi + e] + (v_bias.empty() ? 0 : v_bias[head]));
              if (!v_bias.empty()) o.d_v_bias[head] += g * r[row];
            }
            if (c.key) {
              const std::size_t row = c.place(c.key_index, h, b.distance(i, j)) + e;
              o.d_k[kj + e] += g * p[row];
              o.d_p[row] += g * k[kj + e];
            }
          }
        }
      }
    }
  }
  return o;
}

/// The op's terms from Vars; an absent one is none.
inline ScoreTerms relative_terms(const RelativeCase& c, Var query_scale, Var r, Var p, Var u, Var v) {
  ScoreTerms terms;
  terms.scale = static_cast<Real>(c.base.scale());
  terms.mask = c.base.mask;
  terms.positions = c.base.positions();
  terms.query_scale = query_scale;
  terms.term = RelativeVectors{r, p, c.query_index, c.key_index, c.first_distance, u, v};
  return terms;
}

/// By the op, forward and backward.
inline RelativeOutcome run_relative_attention(const RelativeCase& c, const RelativeInputs& inputs) {
  TestTape tape;
  const auto variable = [&](const Storage& storage) {
    return storage.data() == nullptr ? Var{} : tape->variable(storage.tensor());
  };
  const Var q = variable(inputs.base.q), k = variable(inputs.base.k), v = variable(inputs.base.v),
            query_scale = variable(inputs.base.query_scale), r = variable(inputs.r), p = variable(inputs.p),
            u = variable(inputs.u), v_bias = variable(inputs.v);
  const Var out = attention(q, k, v, relative_terms(c, query_scale, r, p, u, v_bias), c.base.dropout);
  tape->backward(weighted_sum(out, inputs.base.d_out.tensor()));
  const auto gradient = [](Var of) { return of ? numbers_of(of.grad()) : std::vector<double>{}; };
  return {numbers_of(out.value()), gradient(q), gradient(k), gradient(v),
          gradient(query_scale),   gradient(r), gradient(p), gradient(u),
          gradient(v_bias)};
}

}  // namespace tapeline::inline TAPELINE_PRECISION

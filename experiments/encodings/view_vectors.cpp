#include <cmath>
#include <limits>

#include "experiments/encodings/probe.h"
#include "experiments/encodings/view.h"

namespace tapeline {
namespace {

/// How the vectors of distances stand in a tensor.
VectorTable table_of(Var vectors, std::span<const Index> index, Index first, Index length, Index heads,
                     Index width) {
  const Shape shape = vectors.shape();
  VectorTable table{.name = {},
                    .of = "distance",
                    .first = 0,
                    .heads = shape.rank() == 2 ? heads : shape[0],
                    .count = length,
                    .width = width,
                    .numbers = {}};
  for (Index head = 0; head < table.heads; ++head) {
    for (Index distance = 0; distance < length; ++distance) {
      const Index begin = vector_begin(shape, index, first, head, distance, width);
      for (Index n = 0; n < width; ++n) table.numbers.push_back(number_at(vectors, begin + n));
    }
  }
  return table;
}

}  // namespace

double VectorTable::norm(Index head, Index row) const {
  const double* at = numbers.data() + (head * count + row) * width;
  double sum = 0;
  for (Index n = 0; n < width; ++n) sum += at[n] * at[n];
  return std::sqrt(sum);
}

double VectorTable::similarity(Index head, Index row, Index other) const {
  const double* one = numbers.data() + (head * count + row) * width;
  const double* two = numbers.data() + (head * count + other) * width;
  double sum = 0;
  for (Index n = 0; n < width; ++n) sum += one[n] * two[n];
  const double norms = norm(head, row) * norm(head, other);
  return norms > 0 ? sum / norms : std::numeric_limits<double>::quiet_NaN();
}

std::optional<VectorTable> view_input(const EncodingView& view, Index layer, Index length) {
  Probe probe(length);
  const PositionalEncoding& encoding = view.encoding(layer);
  const Index width = view.plan().model.width;
  const Storage nothing({1, length, width});
  const Var before = probe.tape.constant(nothing.tensor());
  const Positions rows = encoding.positions(probe.pass, 0, length);
  const Var after = encoding.add_to_input(probe.pass, before, rows);
  const Real* numbers = after.value().data;
  if (numbers == before.value().data) return std::nullopt;
  return VectorTable{.name = "rows added to the tokens",
                     .of = "position",
                     .first = 0,
                     .heads = 1,
                     .count = length,
                     .width = width,
                     .numbers = {numbers, numbers + length * width}};
}

std::vector<VectorTable> view_vectors(const EncodingView& view, Index layer, Index length) {
  Probe probe(length);
  const PositionalEncoding& encoding = view.encoding(layer);
  const ScoreTerms terms = encoding.score_terms(probe.pass, rows_seen(probe, encoding, length), layer);
  const Index heads = view.plan().model.heads, width = view.plan().model.head_width();
  std::vector<VectorTable> tables;
  if (const auto* term = std::get_if<RelativeVectors>(&terms.term)) {
    const auto add = [&](Var vectors, std::span<const Index> index, const char* name) {
      if (!vectors) return;
      tables.push_back(table_of(vectors, index, term->first_distance, length, heads, width));
      tables.back().name = name;
    };
    add(term->query_vectors, term->query_index, "vectors that queries meet");
    add(term->key_vectors, term->key_index, "vectors that keys meet");
  } else if (const auto* counted = std::get_if<ContextualPositions>(&terms.term)) {
    const Tensor table = counted->table.value();
    tables.push_back({.name = "vectors that queries meet",
                      .of = "counted position",
                      .first = 0,
                      .heads = 1,
                      .count = table.shape[0],
                      .width = table.shape[1],
                      .numbers = {table.data, table.data + table.size()}});
  }
  return tables;
}

}  // namespace tapeline

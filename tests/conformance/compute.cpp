// Compiled in both precisions, like encoded_work.cpp; the other files of this program in none.
#include <cmath>

#include "core/error.h"
#include "tests/conformance/encoded_work.h"

namespace tapeline::conformance {

namespace {

using Found = std::vector<FoundArray>;

void backward(EncodedWork& encoded, Var out, const Storage& d_out) {
  Tape& tape = encoded.pass.tape;
  tape.backward(sum(multiply(out, tape.constant(d_out.tensor()))));
}

Found compute_attention(const Work& work, EncodedWork& encoded) {
  const Shape shape{1, work.heads, work.rows, work.head_width};
  const Storage q = rounded(work.given.at("q"), shape), k = rounded(work.given.at("k"), shape);
  const Storage v = rounded(work.given.at("v"), shape), d_out = rounded(work.given.at("dout"), shape);
  Tape& tape = encoded.pass.tape;
  const Var query = tape.variable(q.tensor()), key = tape.variable(k.tensor());
  const Var value = tape.variable(v.tensor());
  const PassPositions all = encoded.all();
  const Var out = attention(encoded.turned(query, Role::query, all), encoded.turned(key, Role::key, all),
                            value, encoded.terms(all));
  Found found{{"out", numbers_of(out.value())}};
  backward(encoded, out, d_out);
  found.push_back({"dq", numbers_of(query.grad()), true});
  found.push_back({"dk", numbers_of(key.grad()), true});
  found.push_back({"dv", numbers_of(value.grad()), true});
  encoded.add_gradients(found);
  return found;
}

/// The weights [in, out] of three projections side by side, as one product takes them: [3 out, in].
Storage joint_weight(const Work& work) {
  const Index in = work.width, out = work.heads * work.head_width;
  Storage joint({3 * out, in});
  Index part = 0;
  for (const char* name : {"Wq", "Wk", "Wv"}) {
    const Storage weight = rounded(work.given.at(name), {in, out});
    Real* const rows = joint.data() + part++ * out * in;
    for (Index o = 0; o < out; ++o) {
      for (Index i = 0; i < in; ++i) rows[o * in + i] = weight.data()[i * out + o];
    }
  }
  return joint;
}

Found compute_input(const Work& work, EncodedWork& encoded) {
  const Storage x = rounded(work.given.at("x"), {1, work.rows, work.width});
  const Storage d_out = rounded(work.given.at("dout"), {1, work.heads, work.rows, work.head_width});
  const Storage weight = joint_weight(work);
  Tape& tape = encoded.pass.tape;
  const Var input = tape.variable(x.tensor());
  const PassPositions all = encoded.all();
  const Var y = encoded->add_to_input(encoded.pass, input, all.query);
  const HeadsSplit heads = split_heads(linear(y, tape.constant(weight.tensor()), {}), work.heads, work.heads);
  const Var out = attention(encoded.turned(heads.query, Role::query, all),
                            encoded.turned(heads.key, Role::key, all), heads.value, encoded.terms(all));
  Found found{{"y", numbers_of(y.value())}, {"out", numbers_of(out.value())}};
  backward(encoded, out, d_out);
  found.push_back({"dx", numbers_of(input.grad()), true});
  encoded.add_gradients(found);
  return found;
}

Found compute_added_rows(const Work& work, EncodedWork& encoded) {
  const Storage zeros({1, work.rows, work.width});
  const Var y =
      encoded->add_to_input(encoded.pass, encoded.pass.tape.constant(zeros.tensor()), encoded.all().query);
  return {{"pe", numbers_of(y.value())}};
}

Rotation needed(const Rotation& rotation, const Work& work) {
  require<ConfigError>(static_cast<bool>(rotation), "{} has no rotation", work.positional.kind);
  return rotation;
}

Found compute_frequencies(const Work& work, EncodedWork& encoded) {
  const Positions first{.begin = 1, .count = 1};
  const Rotation turn = needed(encoded->rotation(encoded.pass, Role::query, first, {first, first}, 0), work);
  FoundArray frequencies{"inv_freq", {}};
  double factor = 0;
  for (Index pair = 0; pair < turn.width / 2; ++pair) {
    const double cosine = turn.cosine.value().data[pair], sine = turn.sine.value().data[pair];
    frequencies.numbers.push_back(std::atan2(sine, cosine));
    if (pair == 0) factor = std::hypot(sine, cosine);
  }
  return {frequencies, {"cos_sin_factor", {factor}}};
}

Found compute_angles(const Work& work, EncodedWork& encoded) {
  const PassPositions all = encoded.all();
  const Rotation turn = needed(encoded->rotation(encoded.pass, Role::query, all.query, all, 0), work);
  return {{"cos", numbers_of(turn.cosine.value())}, {"sin", numbers_of(turn.sine.value())}};
}

Found compute_turned(const Work& work, EncodedWork& encoded) {
  const Shape shape{1, work.heads, work.rows, work.head_width};
  const Storage q = rounded(work.given.at("q"), shape), k = rounded(work.given.at("k"), shape);
  const PassPositions all = encoded.all();
  Tape& tape = encoded.pass.tape;
  const Var query = encoded.turned(tape.constant(q.tensor()), Role::query, all);
  const Var key = encoded.turned(tape.constant(k.tensor()), Role::key, all);
  return {{"q", numbers_of(query.value())}, {"k", numbers_of(key.value())}};
}

/// What is added to the score of head h, query position i, key position j. Keys of the future have none where
/// the mask is causal, whatever stands in a table for them.
double added(const Work& work, const ScoreTerms& terms, Index h, Index i, Index j) {
  if (work.positional.keys.causal && j > i) return 0;
  if (const auto* linear_bias = std::get_if<LinearBias>(&terms.term)) {
    return -static_cast<double>(linear_bias->slopes.value().data[h]) * static_cast<double>(std::abs(i - j));
  }
  const auto* by_distance = std::get_if<DistanceBias>(&terms.term);
  require<ConfigError>(by_distance != nullptr, "{} adds no bias of head and distance", work.positional.kind);
  const Tensor& table = by_distance->table.value();  // [H, span]
  const Index column = i - j - by_distance->first_distance;
  require<ShapeError>(column >= 0 && column < table.shape.last(), "{}: its table has no distance {}",
                      work.positional.kind, i - j);
  return table.data[h * table.shape.last() + column];
}

Found compute_bias(const Work& work, EncodedWork& encoded) {
  const ScoreTerms terms = encoded.terms(encoded.all());
  FoundArray bias{work.result, {}};
  for (Index h = 0; h < work.heads; ++h) {
    const double shift = work.at_zero ? *work.at_zero - work.bias_factor * added(work, terms, h, 0, 0) : 0.0;
    for (const auto& [i, j] : work.pairs) {
      bias.numbers.push_back(work.bias_factor * added(work, terms, h, i, j) + shift);
    }
  }
  return {bias};
}

Found compute_row_of_pair(const Work& work, EncodedWork& encoded) {
  const ScoreTerms terms = encoded.terms(encoded.all());
  const auto* vectors = std::get_if<RelativeVectors>(&terms.term);
  require<ConfigError>(vectors != nullptr && vectors->query_vectors, "{} has no relative vectors",
                       work.positional.kind);
  const Shape& table = vectors->query_vectors.shape();  // [heads or 1, rows, D] or [rows, H D]
  const Index middle = table[table.rank() - 2] / 2;
  FoundArray rows{work.result, {}};
  for (const auto& [i, j] : work.pairs) {
    Index row = i - j - vectors->first_distance;
    if (!vectors->query_index.empty()) {
      require<ShapeError>(row >= 0 && row < static_cast<Index>(vectors->query_index.size()),
                          "{}: its index has no distance {}", work.positional.kind, i - j);
      row = vectors->query_index[static_cast<std::size_t>(row)];
    }
    rows.numbers.push_back(static_cast<double>(row - middle));
  }
  return {rows};
}

/// The query stands behind all keys before it, as in generation.
Found compute_factor(const Work& work, EncodedWork& encoded) {
  FoundArray factors{work.result, {}};
  for (const Index position : work.positions) {
    const ScoreTerms terms =
        encoded.terms({.query = {.begin = position, .count = 1}, .key = {.begin = 0, .count = position + 1}});
    factors.numbers.push_back(terms.query_scale ? terms.query_scale.value().data[0] : 1);
  }
  return {factors};
}

}  // namespace

std::vector<FoundArray> compute(Real, const Work& work) {
  EncodedWork encoded(work);
  switch (work.quantity) {
    case Quantity::attention:
      return compute_attention(work, encoded);
    case Quantity::input:
      return compute_input(work, encoded);
    case Quantity::added_rows:
      return compute_added_rows(work, encoded);
    case Quantity::frequencies:
      return compute_frequencies(work, encoded);
    case Quantity::angles:
      return compute_angles(work, encoded);
    case Quantity::turned:
      return compute_turned(work, encoded);
    case Quantity::bias:
      return compute_bias(work, encoded);
    case Quantity::row_of_pair:
      return compute_row_of_pair(work, encoded);
    case Quantity::factor:
      return compute_factor(work, encoded);
  }
  fail<StateError>("a quantity that nothing computes");
}

}  // namespace tapeline::conformance

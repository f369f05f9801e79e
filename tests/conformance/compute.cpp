// Compiled in both precisions; the other files of this program in none.
#include <cmath>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/ops.h"
#include "layers/positional/registry.h"
#include "tests/conformance/arrangement.h"
#include "tests/conformance/work.h"

namespace tapeline::conformance {

namespace {

Storage rounded(const GoldenArray& array, const Shape& shape) {
  require<ShapeError>(array.size() == shape.size(), "an array of {} numbers where {} are needed",
                      array.size(), shape.text());
  Storage storage(shape);
  for (Index i = 0; i < shape.size(); ++i) {
    storage.data()[i] = static_cast<Real>(array.numbers[static_cast<std::size_t>(i)]);
  }
  return storage;
}

std::vector<double> numbers_of(const Tensor& tensor) { return {tensor.data, tensor.data + tensor.size()}; }

/// The encoding of a piece of work with its parameters filled, and a pass to run it in.
class Encoded {
 public:
  explicit Encoded(const Work& work)
      : work_(work),
        encoding_(make_encoding(work.positional,
                                {.width = work.width,
                                 .heads = work.heads,
                                 .head_width = work.head_width,
                                 .layers = 1,
                                 .train_length = work.train_length,
                                 .causal = work.made_causal,
                                 .scope = store_.root().scope("positional").scope(work.positional.kind)})) {
    store_.allocate(0);
    for (const LearnedArray& learned : work.learned) fill(learned);
    store_.zero_gradients();
    pass.declared_context = work.declared_context;
  }

  const PositionalEncoding* operator->() const { return encoding_.get(); }

  /// Queries and keys are all rows of the work.
  PassPositions all() const {
    Positions rows{.begin = 0, .count = work_.rows};
    if (!work_.positions.empty()) rows.axis[0] = work_.positions;
    return {rows, rows};
  }

  ScoreTerms terms(const PassPositions& positions) {
    ScoreTerms terms = encoding_->score_terms(pass, positions, 0);
    terms.mask = work_.positional.keys;
    return terms;
  }

  /// x [1, H, L, D] as queries or keys come to be.
  Var turned(Var x, Role role, const PassPositions& positions) {
    const Positions& rows = role == Role::query ? positions.query : positions.key;
    const Rotation rotation = encoding_->rotation(pass, role, rows, positions, 0);
    return rotation ? rotate(x, rotation) : x;
  }

  /// The gradients of the parameters as the arrays have them.
  void add_gradients(std::vector<FoundArray>& found) {
    for (const LearnedArray& learned : work_.learned) {
      if (learned.array.empty()) continue;
      const Tensor gradient = parameter(learned.parameter).grad();
      found.push_back({"d_" + learned.array,
                       arranged_back(learned, gradient.shape, work_.head_width, numbers_of(gradient)), true});
    }
  }

 private:
  /// Shared by the layers or one a layer: found by its last name.
  Parameter& parameter(const std::string& name) {
    for (Parameter& known : store_.parameters()) {
      if (known.name().ends_with("/" + name)) return known;
    }
    fail<ConfigError>("{} has no parameter \"{}\"", work_.positional.kind, name);
  }

  void fill(const LearnedArray& learned) {
    const Tensor value = parameter(learned.parameter).mutable_value();
    const std::vector<double> numbers = arranged(learned, value.shape, work_.head_width);
    for (Index i = 0; i < value.size(); ++i) {
      value.data[i] = static_cast<Real>(numbers[static_cast<std::size_t>(i)]);
    }
  }

  const Work& work_;
  ParameterStore store_;
  std::unique_ptr<PositionalEncoding> encoding_;
  Arena arena_;
  GradientPool pool_;
  Tape tape_{arena_, pool_};

 public:
  Pass pass{tape_};
};

using Found = std::vector<FoundArray>;

void backward(Encoded& encoded, Var out, const Storage& d_out) {
  Tape& tape = encoded.pass.tape;
  tape.backward(sum(multiply(out, tape.constant(d_out.tensor()))));
}

Found compute_attention(const Work& work, Encoded& encoded) {
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

Found compute_input(const Work& work, Encoded& encoded) {
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

Found compute_added_rows(const Work& work, Encoded& encoded) {
  const Storage zeros({1, work.rows, work.width});
  const Var y =
      encoded->add_to_input(encoded.pass, encoded.pass.tape.constant(zeros.tensor()), encoded.all().query);
  return {{"pe", numbers_of(y.value())}};
}

Rotation needed(const Rotation& rotation, const Work& work) {
  require<ConfigError>(static_cast<bool>(rotation), "{} has no rotation", work.positional.kind);
  return rotation;
}

Found compute_frequencies(const Work& work, Encoded& encoded) {
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

Found compute_angles(const Work& work, Encoded& encoded) {
  const PassPositions all = encoded.all();
  const Rotation turn = needed(encoded->rotation(encoded.pass, Role::query, all.query, all, 0), work);
  return {{"cos", numbers_of(turn.cosine.value())}, {"sin", numbers_of(turn.sine.value())}};
}

Found compute_turned(const Work& work, Encoded& encoded) {
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

Found compute_bias(const Work& work, Encoded& encoded) {
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

Found compute_row_of_pair(const Work& work, Encoded& encoded) {
  const ScoreTerms terms = encoded.terms(encoded.all());
  const auto* vectors = std::get_if<RelativeVectors>(&terms.term);
  require<ConfigError>(vectors != nullptr && vectors->query_vectors, "{} has no relative vectors",
                       work.positional.kind);
  const Index middle = vectors->query_vectors.shape()[1] / 2;
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
Found compute_factor(const Work& work, Encoded& encoded) {
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
  Encoded encoded(work);
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

#include "experiments/claims/made_up.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention.h"

namespace tapeline {
namespace {

void stir_parameters(ParameterStore& store) {
  for (Parameter& parameter : store.parameters()) {
    const Tensor value = parameter.mutable_value();
    const RandomKey key = random_key(0, parameter.name()).child("claims");
    for (Index n = 0; n < value.size(); ++n) {
      const double moved =
          static_cast<double>(value.data[n]) + 0.3 * random_normal(key, static_cast<std::uint64_t>(n));
      value.data[n] =
          std::clamp(static_cast<Real>(moved), parameter.bounds().lowest, parameter.bounds().highest);
    }
  }
}

/// No positions of any kind; unlike the registered kind "none" it takes any mask.
class NoPositions final : public PositionalEncoding {
 public:
  explicit NoPositions(Index head_width) : PositionalEncoding(head_width) {}
};

std::vector<double> numbers_in(const Tensor& tensor) { return {tensor.data, tensor.data + tensor.size()}; }

}  // namespace

ModelPlan claim_plan(std::string_view kind, Index width, Index heads, Index train_length) {
  ModelPlan plan;
  plan.model.layers = 2;
  plan.model.width = width;
  plan.model.heads = heads;
  plan.positional.kind = kind;
  plan.train_length = train_length;
  return plan;
}

ModelPlan with_kind_option(ModelPlan plan, const std::string& name, OptionValue value) {
  plan.positional.options[plan.positional.kind].set(name, std::move(value));
  return plan;
}

std::vector<double> normal_numbers(Index count, std::string_view name) {
  const RandomKey key = random_key(0, name);
  std::vector<double> numbers(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = random_normal(key, n);
  return numbers;
}

Storage as_storage(const Shape& shape, const std::vector<double>& numbers) {
  Storage storage(shape);
  std::ranges::transform(numbers, storage.data(), [](double number) { return static_cast<Real>(number); });
  return storage;
}

Transformer stirred_model(const ModelPlan& plan) {
  Transformer model(plan);
  stir_parameters(model.parameters());
  return model;
}

Transformer positionless_model(Index layers, const KeyMask& mask) {
  ModelPlan plan = claim_plan(default_kind(), 32);
  plan.model.layers = layers;
  plan.positional.keys = mask;
  Transformer model(plan, [](const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
    return std::make_unique<NoPositions>(context.head_width);
  });
  stir_parameters(model.parameters());
  return model;
}

std::vector<double> hidden_rows(const Transformer& model, const std::vector<Token>& ids, Index shift) {
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  pass.position_shift = shift;
  return numbers_in(model.hidden(pass, ids, 1).value());
}

std::vector<double> attention_output(const Storage& q, const Storage& k, const Storage& v,
                                     const std::function<ScoreTerms(Tape&)>& terms) {
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  const auto one_batch = [&](const Storage& rows) {
    const Shape shape = rows.shape();
    return tape.constant(rows.tensor().reshaped({1, shape[0], shape[1], shape[2]}));
  };
  return numbers_in(attention(one_batch(q), one_batch(k), one_batch(v), terms(tape)).value());
}

std::vector<double> weights_of_terms(Index rows, const std::function<ScoreTerms(Tape&)>& terms) {
  const Storage nothing({1, rows, rows});
  Storage key_by_key({1, rows, rows});  // row j of the values is 1 at j: the output of a row is its weights
  for (Index row = 0; row < rows; ++row) key_by_key.data()[row * rows + row] = 1;
  return attention_output(nothing, nothing, key_by_key, terms);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n) {
    largest = std::max(largest, std::abs(a[n] - b[n]));
  }
  return largest;
}

double root_mean_square(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number * number;
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(numbers.size(), 1)));
}

Fall fall_of(const std::vector<double>& curve, double rounding) {
  Fall fall;
  for (std::size_t distance = 0; distance + 1 < curve.size(); ++distance) {
    if (curve[distance + 1] <= curve[distance] + rounding) continue;
    if (fall.rises == 0) fall.first_rise = static_cast<Index>(distance);
    ++fall.rises;
  }
  double before = std::numeric_limits<double>::infinity();
  for (std::size_t begin = 1; 2 * begin <= curve.size(); begin *= 2) {
    double sum = 0;
    for (std::size_t distance = begin; distance < 2 * begin; ++distance) sum += curve[distance];
    const double mean = sum / static_cast<double>(begin);
    fall.means_fall = fall.means_fall && mean < before;
    before = mean;
  }
  return fall;
}

}  // namespace tapeline

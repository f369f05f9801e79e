#include "tests/conformance/encoded_work.h"

#include "core/error.h"
#include "tests/conformance/arrangement.h"

namespace tapeline::inline TAPELINE_PRECISION {

using conformance::FoundArray;
using conformance::GoldenArray;
using conformance::LearnedArray;
using conformance::Work;

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

EncodedWork::EncodedWork(const Work& work)
    : work_(work),
      encoding_(make_encoding(work.positional,
                              {.width = work.width,
                               .heads = work.heads,
                               .head_width = work.head_width,
                               .layers = 1,
                               .train_length = work.train_length,
                               .causal = work.made_causal,
                               .scope = store_.root().scope("positional").scope(work.positional.kind)})) {
#ifdef TAPELINE_SCORE_SCALES
  score_scale_ = make_score_scale(
      work.positional,
      {.heads = work.heads, .layers = 1, .train_length = work.train_length, .root = store_.root()});
#endif
  store_.allocate(0);
  for (const LearnedArray& learned : work.learned) fill(learned);
  store_.zero_gradients();
  pass.declared_context = work.declared_context;
}

PassPositions EncodedWork::all() const {
  Positions rows{.begin = 0, .count = work_.rows};
  if (!work_.positions.empty()) rows.axis[0] = work_.positions;
  return {rows, rows};
}

ScoreTerms EncodedWork::terms(const PassPositions& positions) {
  ScoreTerms terms = encoding_->score_terms(pass, positions, 0);
  terms.mask = work_.positional.keys;
#ifdef TAPELINE_SCORE_SCALES
  if (score_scale_) terms.query_scale = score_scale_->factors(pass, positions, 0);
#endif
  return terms;
}

Var EncodedWork::turned(Var x, Role role, const PassPositions& positions) {
  const Positions& rows = role == Role::query ? positions.query : positions.key;
  const Rotation rotation = encoding_->rotation(pass, role, rows, positions, 0);
  return rotation ? rotate(x, rotation) : x;
}

void EncodedWork::add_gradients(std::vector<FoundArray>& found) {
  for (const LearnedArray& learned : work_.learned) {
    if (learned.array.empty()) continue;
    const Tensor gradient = parameter(learned.parameter).grad();
    found.push_back({"d_" + learned.array,
                     arranged_back(learned, gradient.shape, work_.head_width, numbers_of(gradient)), true});
  }
}

/// Shared by the layers or one a layer: found by its last name.
Parameter& EncodedWork::parameter(const std::string& name) {
  for (Parameter& known : store_.parameters()) {
    if (known.name().ends_with("/" + name)) return known;
  }
  fail<ConfigError>("{} has no parameter \"{}\"", work_.positional.kind, name);
}

void EncodedWork::fill(const LearnedArray& learned) {
  const Tensor value = parameter(learned.parameter).mutable_value();
  const std::vector<double> numbers = arranged(learned, value.shape, work_.head_width);
  for (Index i = 0; i < value.size(); ++i) {
    value.data[i] = static_cast<Real>(numbers[static_cast<std::size_t>(i)]);
  }
}

}  // namespace tapeline::inline TAPELINE_PRECISION

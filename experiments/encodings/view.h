#pragma once

#include <optional>
#include <string>
#include <vector>

#include "layers/model_positions.h"

namespace tapeline {

/// The positional part of one model without the rest of it: encodings, wrappers and their parameters, fresh
/// ones or those of a trained model.
class EncodingView {
 public:
  /// With the parameters that training begins with. Throws ConfigError for a plan that makes no sense.
  explicit EncodingView(const ModelPlan& plan);
  /// With those of a trained model of this plan.
  EncodingView(const ModelPlan& plan, ParameterStore& trained);
  EncodingView(const EncodingView&) = delete;
  EncodingView& operator=(const EncodingView&) = delete;

  const ModelPlan& plan() const { return plan_; }
  const ModelPositions& positions() const { return *positions_; }
  const PositionalEncoding& encoding(Index layer) const { return positions_->encoding(layer); }
  bool trained() const { return trained_; }

 private:
  ModelPlan plan_;
  ParameterStore store_;
  std::optional<ModelPositions> positions_;
  bool trained_ = false;
};

/// The parameters of encodings and wrappers of such a model: what it has more than one without positions.
Index positional_parameters(const ModelPlan& plan);

/// How queries and keys are turned, read from the tables that an encoding gives.
struct RotationView {
  Index width = 0;                  ///< features of a head that are turned
  std::vector<double> wavelengths;  ///< [width / 2] in positions; infinite: not turned
  std::vector<double> decay;        ///< [length] the mean over the pairs of what q . k keeps, by distance
  double magnitude = 1;             ///< of cosines and sines: its square is left at distance 0
};
/// nullopt: the encoding turns nothing. `length`: the declared context, and the distances looked at.
std::optional<RotationView> view_rotation(const EncodingView& view, Index layer, Index length);

/// What is added to the scaled scores by head and distance, seen from certain rows.
struct BiasView {
  bool by_row = false;  ///< it depends on the row as well; else there is one row, the last
  std::vector<Index> rows;
  /// [heads][rows][distance], distances 0 .. row
  std::vector<std::vector<std::vector<double>>> bias;
};
/// nullopt: no bias that depends on positions alone.
std::optional<BiasView> view_bias(const EncodingView& view, Index layer, Index length);

/// Vectors that belong to positions, distances or counted positions.
struct VectorTable {
  std::string name;  ///< "of positions"
  std::string of;    ///< "position", "distance", "counted position"
  Index first = 0;   ///< what the first one belongs to
  Index heads = 1, count = 0, width = 0;
  std::vector<double> numbers;  ///< [heads, count, width]

  double norm(Index head, Index row) const;
  /// The cosine of the angle between two of them; NaN where one is 0.
  double similarity(Index head, Index row, Index other) const;
};
/// What is added to the token rows; nullopt: nothing.
std::optional<VectorTable> view_input(const EncodingView& view, Index layer, Index length);
/// The vectors that queries and keys are multiplied with.
std::vector<VectorTable> view_vectors(const EncodingView& view, Index layer, Index length);

/// The factor on q . k: [1 or heads][rows]; empty: none.
std::vector<std::vector<double>> view_score_scale(const EncodingView& view, Index layer, Index length);

/// Positions of `length` rows in training, in a draw of that number: with randomized positions.
std::vector<Index> view_positions(const EncodingView& view, Index length, Index draw);

}  // namespace tapeline

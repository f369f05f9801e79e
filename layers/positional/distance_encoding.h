#pragma once

#include <array>
#include <vector>

#include "core/tensor.h"
#include "layers/positional/distances.h"
#include "layers/positional/encoding.h"
#include "layers/positional/kept_tables.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// An encoding whose scores get b_h(d), a bias of head and distance: what all of that form share. A kind says
/// how the numbers follow from its weights, and the gradient.
///
/// The table of a pass that records is made on its tape, once for all layers of one set of weights. Passes
/// that do not record share a GrowingTable a set.
class DistanceEncoding : public PositionalEncoding {
 public:
  /// DistanceBias: a table [H, distances] of those of the pass, or of all up to the longest.
  ScoreTerms score_terms(Pass& pass, const PassPositions& all, Index layer) const final;

  /// b_h(d) of `layer` for these distances, by the weights as they are: [H, count].
  void biases(Index layer, const Distances& distances, const Tensor& to) const;

 protected:
  struct Common {
    Index heads = 0, head_width = 0;
    bool causal = true;
    Index sets = 1;  ///< of weights: 1 for all layers, or one a layer
  };
  explicit DistanceEncoding(const Common& common);

  /// The weights of a set; null: absent. Only sets of layers that the encoding serves are asked for.
  using Weights = std::array<Parameter*, 2>;
  virtual Weights weights(Index set) const;
  /// Writes the numbers of a set, by the weights as they are.
  virtual void fill(Index set, const DistanceRows& rows) const = 0;
  /// Adds to the gradients of the two weights what d_table [H, count], of distances from `first` on, gives.
  virtual void add_gradients(const Tensor& d_table, Index first, Var weight, Var other) const;

  Index heads() const { return common_.heads; }

 private:
  Index set_of(Index layer) const { return common_.sets == 1 ? 0 : layer; }
  Var recorded_table(Pass& pass, Index set, const Distances& distances) const;

  Common common_;
  mutable std::vector<GrowingTable> kept_;  // one a set
};

}  // namespace tapeline::inline TAPELINE_PRECISION

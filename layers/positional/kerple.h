#pragma once

#include "layers/positional/distance_encoding.h"
#include "layers/positional/per_layer.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// The two kernels of KERPLE.
enum class KerpleForm {
  logarithm,  ///< b = -r1 ln(1 + r2 |d|), r1, r2 > 0
  power       ///< b = -r1 |d|^r2, r1 > 0, 0 < r2 <= 2
};

/// A bias whose kernel is conditionally positive definite, a pair of numbers a head (Chi, Fan, Ramadge,
/// Rudnicky 2022, 2205.09921). Parameters: r1, r2 [H], positional/<kind>/r1 for all layers, or one pair a
/// layer, blocks/<i>/attention/positional/r1. At the start uniform: r1 up to 2 and r2 up to 1, for the power
/// r1 up to 1 and r2 up to 2. Both are kept at 0.01 or above, r2 of the power at 2 or below.
class KerplePositions final : public DistanceEncoding {
 public:
  struct Settings {
    KerpleForm form = KerpleForm::logarithm;
    bool per_layer = false;  ///< a pair of numbers for each head of each layer
  };
  /// Registers the pair or pairs.
  KerplePositions(const EncodingContext& context, const Settings& settings);

 protected:
  Weights weights(Index set) const override;
  void fill(Index set, const DistanceRows& rows) const override;
  void add_gradients(const Tensor& d_table, Index first, Var outer, Var inner) const override;

 private:
  struct Pair {
    Parameter *outer, *inner;  // r1, r2
  };
  KerpleForm form_;
  PerLayer<Pair> pairs_;
};

/// The option that both kinds have.
OptionField kerple_per_layer();
/// The make of both kinds (EncodingKind).
std::unique_ptr<PositionalEncoding> make_kerple(KerpleForm form, const OptionValues& options,
                                                const EncodingContext& context);

}  // namespace tapeline::inline TAPELINE_PRECISION

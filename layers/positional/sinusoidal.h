#pragma once

#include <vector>

#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Where sines and cosines of a row stand.
enum class SinusoidLayout {
  interleaved,  ///< sin a_0, cos a_0, sin a_1, ... (the paper)
  half,         ///< sin a_0, sin a_1, ... | cos a_0, ... (Transformer-XL)
  t2t           ///< half, with exponent -p/(C/2 - 1) instead of -2p/C (tensor2tensor, fairseq)
};

/// y_t = x_t + factor * PE(position_t), angles a_p = position * base^(-2p/C) (Vaswani et al. 2017,
/// 1706.03762). An odd width drops the last cosine; t2t then leaves the last feature 0. No parameters.
class SinusoidalPositions final : public PositionalEncoding {
 public:
  struct Settings {
    Index width = 0, head_width = 0;
    SinusoidLayout layout = SinusoidLayout::interleaved;
    double base = 10000;
    double factor = 1;
  };
  explicit SinusoidalPositions(const Settings& settings);

  Var add_to_input(Pass& pass, Var x, const Positions& rows) const override;
  /// factor * PE of the rows, into `table` [rows, C].
  void fill(const Positions& rows, const Tensor& table) const;

 private:
  Settings settings_;
  std::vector<double> frequencies_;
};

/// The factor at which sinusoids enter with the root mean square of fresh token rows: 0.02 over the
/// sinusoids' own 1/sqrt(2). Unscaled they drown the tokens (0.6 nats a byte at the trained length).
double sinusoid_auto_factor();

const EncodingKind& sinusoidal_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION

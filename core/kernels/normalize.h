#pragma once

#include "core/real.h"

/// Layer norm and RMS norm of the rows of x [rows, width]:
///   y = (x - mean) rstd gain + shift,   rstd = 1 / sqrt(mean((x - mean)^2) + epsilon)
/// where RMS norm has mean 0 and no shift.
namespace tapeline::inline TAPELINE_PRECISION {

struct NormalizeForward {
  Index rows = 0, width = 0;
  const Real* x = nullptr;
  const Real* gain = nullptr;   ///< [width]
  const Real* shift = nullptr;  ///< [width], or absent
  double epsilon = 0;
  Real* y = nullptr;
  Real* mean = nullptr;  ///< [rows]; absent: RMS norm
  Real* rstd = nullptr;  ///< [rows]
};
void normalize_forward(const NormalizeForward& arguments);

/// With n = (x - mean) rstd and g = d_y gain:
///   d_x = rstd (g - mean(g) - n mean(g n)), without mean(g) for RMS norm;  d_gain = sum d_y n;
///   d_shift = sum d_y.
struct NormalizeBackward {
  Index rows = 0, width = 0;
  const Real* x = nullptr;
  const Real* gain = nullptr;
  const Real* mean = nullptr;  ///< absent: RMS norm
  const Real* rstd = nullptr;
  const Real* d_y = nullptr;
  Real* d_x = nullptr;     ///< absent: not wanted
  Real d_x_beta = 0;       ///< 1: added to, here and below; 0: the old numbers are not read
  Real* d_gain = nullptr;  ///< absent: not wanted
  Real d_gain_beta = 0;
  Real* d_shift = nullptr;  ///< absent: not wanted
  Real d_shift_beta = 0;
  Real* scratch = nullptr;  ///< normalize_backward_scratch(width) numbers
};
Index normalize_backward_scratch(Index width);
void normalize_backward(const NormalizeBackward& arguments);

}  // namespace tapeline::inline TAPELINE_PRECISION

#pragma once

#include <span>

#include "layers/positional/encoding.h"
#include "layers/positional/frequencies.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Sine and cosine of position * frequency, times `factor`, angles and functions in double. Number p of row t
/// goes to sine[t * stride + p * step], and the same for the cosine; frequencies past `cosines` have a sine
/// only. Positions below `first_positions` have the frequencies `of_first` instead.
struct AngleTables {
  Real* sine = nullptr;
  Real* cosine = nullptr;
  Index stride = 0;
  Index step = 1;
  Index cosines = 0;
  double factor = 1;
  Index first_positions = 0;
  std::span<const double> of_first = {};
};
/// Fills the tables for the positions of `rows`, row 0 of the tables being the first of them.
void fill_angles(const Positions& rows, std::span<const double> frequencies, const AngleTables& tables);

/// The rotation by tables [2, rows, pairs], cosines and then sines, of the first 2 pairs features of a head.
Rotation rotation_by(Tape& tape, const Tensor& tables, Pairing pairing);

}  // namespace tapeline::inline TAPELINE_PRECISION

#pragma once

#include <cmath>

#include "core/attention.h"
#include "core/tensor.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Cosine and sine of rows 0 .. rows-1 for a rotated width, pair p at frequency base^(-2p / width), times a
/// magnitude.
class RotationTables {
 public:
  RotationTables(Index rows, Index width, double base, double magnitude = 1)
      : width_(width), cosine_({rows, width / 2}), sine_({rows, width / 2}) {
    for (Index row = 0; row < rows; ++row) {
      for (Index p = 0; p < width / 2; ++p) {
        const double angle = static_cast<double>(row) *
                             std::pow(base, -2.0 * static_cast<double>(p) / static_cast<double>(width));
        cosine_.data()[row * (width / 2) + p] = static_cast<Real>(magnitude * std::cos(angle));
        sine_.data()[row * (width / 2) + p] = static_cast<Real>(magnitude * std::sin(angle));
      }
    }
  }

  Rotation rotation(Tape& tape, Pairing pairing) const {
    return {tape.constant(cosine_.tensor()), tape.constant(sine_.tensor()), width_, pairing};
  }

 private:
  Index width_;
  Storage cosine_, sine_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION

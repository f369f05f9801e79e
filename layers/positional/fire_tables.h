#pragma once

#include "core/positions.h"
#include "core/tape.h"
#include "layers/positional/kept_tables.h"

/// What FIRE makes of its parameters for RowNormalizedBias, on the tape (Li et al. 2023, 2310.04418). All in
/// double, stored as Real.
namespace tapeline::inline TAPELINE_PRECISION {

/// ln(|kappa d| + 1) for d = first_distance .. first_distance + count - 1: kappa [1] -> [count]. The gradient
/// of |.| at 0 is 0. Throws ShapeError for a kappa that is no single number.
Var log_distances(Var kappa, Index first_distance, Index count);

/// The same numbers for a table of one row, by the kappa [1] as it is.
void fill_log_distances(const Tensor& kappa, const DistanceRows& rows);

/// ln(|kappa max(i, T)| + 1) + 1e-6, T = |mu length|, for the positions i of `rows`: kappa, mu [1] ->
/// [rows.count]. Where i = T, T gets half of the gradient. The positions must live as long as the tape.
/// Throws ShapeError for a kappa or mu that is no single number.
Var log_thresholds(Var kappa, Var mu, double length, const Positions& rows);

/// A piecewise linear function for each head: slopes[h, s] x + intercepts[h, s], s the number of cuts <= x.
struct PiecewiseLinear {
  Var cuts;                ///< [m], ascending, without gradient
  Var slopes, intercepts;  ///< [H, m + 1]
};

/// output_weight relu(inner_weight x + inner_bias) + output_bias for x >= 0: inner_weight, inner_bias [m],
/// output_weight [H, m], output_bias [H]. A unit of the hidden layer changes at x = -bias / weight: the cuts
/// are those above 0, and +infinity for the other units, which are on or off throughout. Throws ShapeError
/// for shapes that do not fit.
PiecewiseLinear piecewise_linear(Var inner_weight, Var inner_bias, Var output_weight, Var output_bias);

}  // namespace tapeline::inline TAPELINE_PRECISION

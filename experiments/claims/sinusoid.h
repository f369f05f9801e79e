#pragma once

#include "experiments/claims/claim.h"
#include "experiments/encodings/view.h"

/// Claims about the rows of sinusoidal positions. `rows` are those of positions 0, 1, 2, ..., sines and
/// cosines in turn.
namespace tapeline {

/// True: row 0 is 0 everywhere.
ClaimFinding sinusoid_begins_at_zero(const VectorTable& rows);
/// PE(0) . PE(d) by d. True: it never rises; on average: its means over distances 2^k .. 2^(k+1) - 1 fall.
ClaimFinding sinusoid_product_falls(const VectorTable& rows);
/// True: the slowest pair's wavelength is 2 pi 10000 within a thousandth.
ClaimFinding sinusoid_reaches_base(const VectorTable& rows);
/// True: wavelengths fit 2 pi 10000^(2i/d) better with i the number of the feature than of the pair.
ClaimFinding sinusoid_counts_features(const VectorTable& rows);
/// True: for every shift k one linear map, made from row k alone, takes every row to the one k later, within
/// 1e-5.
ClaimFinding sinusoid_shift_is_linear(const VectorTable& rows);
/// True: PE(t) . PE(t + d) and PE(t) . PE(t - d) are equal within 1e-5 of the squared norm of a row.
ClaimFinding sinusoid_is_symmetric(const VectorTable& rows);

}  // namespace tapeline

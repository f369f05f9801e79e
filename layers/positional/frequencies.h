#pragma once

#include <span>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// base^(-p/of) for p = 0 .. size-1: the frequencies of rotations and sinusoids, in double whatever Real is.
/// (An angle in float at position 131071 has cosine errors of 1.5e-3.)
void fill_geometric(std::span<double> frequencies, double base, double of);
/// `count` of them.
std::vector<double> geometric_frequencies(Index count, double base, double of);

}  // namespace tapeline

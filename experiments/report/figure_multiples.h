#pragma once

#include <vector>

#include "experiments/report/figure_script.h"

namespace tapeline {

/// A figure as small charts side by side on the same axes, two to four in a row; a line above them says what
/// the colours are.
FigureScript small_multiples(const Figure& figure, const std::vector<FigurePanel>& panels);

}  // namespace tapeline

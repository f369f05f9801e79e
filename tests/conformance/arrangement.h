#pragma once

#include "core/shape.h"
#include "tests/conformance/work.h"

namespace tapeline::conformance {

/// The element of the array that stands at each element of a parameter of this shape; -1: none. Throws
/// ShapeError where the array does not fit.
std::vector<Index> sources(const LearnedArray& learned, const Shape& parameter, Index head_width);

/// The values of the parameter.
std::vector<double> arranged(const LearnedArray& learned, const Shape& parameter, Index head_width);

/// The way back, of a gradient: in the order of the array.
std::vector<double> arranged_back(const LearnedArray& learned, const Shape& parameter, Index head_width,
                                  const std::vector<double>& gradient);

}  // namespace tapeline::conformance

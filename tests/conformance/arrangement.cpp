#include "tests/conformance/arrangement.h"

#include <fmt/ranges.h>

#include <numeric>

#include "core/error.h"

namespace tapeline::conformance {

namespace {

void require_fit(bool fits, const LearnedArray& learned, const Shape& parameter) {
  require<ShapeError>(fits, "array \"{}\" [{}] does not fit parameter \"{}\" {}", learned.array,
                      fmt::join(learned.value.shape, ", "), learned.parameter, parameter.text());
}

/// The extents but those of 1, which files and library do not always write alike.
std::vector<Index> essential(const std::vector<Index>& shape) {
  std::vector<Index> kept;
  for (const Index extent : shape) {
    if (extent != 1) kept.push_back(extent);
  }
  return kept;
}

std::vector<Index> extents(const Shape& shape) {
  std::vector<Index> all;
  for (int axis = 0; axis < shape.rank(); ++axis) all.push_back(shape[axis]);
  return all;
}

}  // namespace

std::vector<Index> sources(const LearnedArray& learned, const Shape& parameter, Index head_width) {
  const std::vector<Index>& shape = learned.value.shape;
  std::vector<Index> from(static_cast<std::size_t>(parameter.size()), -1);
  switch (learned.arrangement) {
    case Arrangement::same:
      require_fit(essential(shape) == essential(extents(parameter)), learned, parameter);
      std::iota(from.begin(), from.end(), Index{0});
      break;
    case Arrangement::transposed: {
      require_fit(
          shape.size() == 2 && parameter.rank() == 2 && shape[0] == parameter[1] && shape[1] == parameter[0],
          learned, parameter);
      for (Index e = 0; e < parameter.size(); ++e) {
        from[static_cast<std::size_t>(e)] = (e % shape[0]) * shape[1] + e / shape[0];
      }
      break;
    }
    case Arrangement::projected: {
      require_fit(shape.size() == 3 && shape[2] == head_width && parameter.rank() == 2 &&
                      parameter[0] == shape[0] * shape[2] && parameter[1] >= shape[1],
                  learned, parameter);
      for (Index out = 0; out < parameter[0]; ++out) {
        for (Index row = 0; row < shape[1]; ++row) {
          from[static_cast<std::size_t>(out * parameter[1] + row)] =
              (out / head_width * shape[1] + row) * head_width + out % head_width;
        }
      }
      break;
    }
    case Arrangement::identity:
    case Arrangement::row_number:
      break;
  }
  return from;
}

std::vector<double> arranged(const LearnedArray& learned, const Shape& parameter, Index head_width) {
  const Index columns = parameter.last();
  std::vector<double> values(static_cast<std::size_t>(parameter.size()), 0.0);
  if (learned.arrangement == Arrangement::identity || learned.arrangement == Arrangement::row_number) {
    for (Index e = 0; e < parameter.size(); ++e) {
      const Index column = e % columns;
      const bool identity = learned.arrangement == Arrangement::identity;
      values[static_cast<std::size_t>(e)] =
          identity ? (e / columns == column ? 1.0 : 0.0) : static_cast<double>(column);
    }
    return values;
  }
  const std::vector<Index> from = sources(learned, parameter, head_width);
  for (std::size_t e = 0; e < values.size(); ++e) {
    if (from[e] >= 0) values[e] = learned.value.numbers[static_cast<std::size_t>(from[e])];
  }
  return values;
}

std::vector<double> arranged_back(const LearnedArray& learned, const Shape& parameter, Index head_width,
                                  const std::vector<double>& gradient) {
  std::vector<double> back(learned.value.numbers.size(), 0.0);
  const std::vector<Index> from = sources(learned, parameter, head_width);
  for (std::size_t e = 0; e < gradient.size(); ++e) {
    if (from[e] >= 0) back[static_cast<std::size_t>(from[e])] = gradient[e];
  }
  return back;
}

}  // namespace tapeline::conformance

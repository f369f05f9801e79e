#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"

/// Where things stand in a checkpoint: one place for writer, reader and inspection.
namespace tapeline::checkpoint_layout {

inline constexpr std::string_view format = "tapeline";
inline constexpr std::int64_t version = 1;
inline constexpr std::string_view container_kind = "checkpoint";

/// Root attribute: the encodings of the build that wrote the file, "rope, none". Files of earlier builds lack
/// it.
inline constexpr std::string_view creator_kinds = "creator_positional";

inline constexpr std::string_view model = "/model";
inline constexpr std::string_view optimizer = "/optimizer";

inline std::string model_path(std::string_view parameter) {
  return std::string(model) + '/' + std::string(parameter);
}
inline std::string optimizer_path(std::string_view parameter, std::string_view slot) {
  return std::string(optimizer) + '/' + std::string(parameter) + '/' + std::string(slot);
}

/// A tensor's shape as that of its dataset.
inline std::vector<Index> extents_of(const Shape& shape) {
  std::vector<Index> extents;
  for (int axis = 0; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
  return extents;
}

}  // namespace tapeline::checkpoint_layout

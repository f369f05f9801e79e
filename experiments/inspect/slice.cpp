#include "experiments/inspect/slice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/counted.h"
#include "core/error.h"

namespace tapeline {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else if (c != ' ')
      parts.back() += c;
  }
  return parts;
}

/// Nothing for an empty text.
std::optional<Index> read_number(const std::string& text, const std::string& slice) {
  if (text.empty()) return std::nullopt;
  const std::size_t sign = text.front() == '+' ? 1 : 0;
  Index value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data() + sign, end, value);
  require<ConfigError>(
      error == std::errc() && stopped == end,
      "--slice {}: \"{}\" is no whole number; expected begin:end:step for each axis, as in 0:4,10:20", slice,
      text);
  return value;
}

SlabAxis read_axis(const std::string& text, Index extent, const std::string& slice) {
  const std::vector<std::string> parts = split(text, ':');
  require<ConfigError>(parts.size() <= 3 && !text.empty(),
                       "--slice {}: \"{}\" is no part; expected begin:end:step or one index for each axis",
                       slice, text);
  const std::optional<Index> first = read_number(parts[0], slice);
  if (parts.size() == 1) {
    const Index index = *first < 0 ? *first + extent : *first;
    require<ConfigError>(index >= 0 && index < extent, "--slice {}: {} is outside an axis of {}", slice,
                         *first, extent);
    return {index, 1, 1};
  }
  const Index step = (parts.size() == 3 ? read_number(parts[2], slice) : std::nullopt).value_or(1);
  require<ConfigError>(step >= 1, "--slice {}: a step is at least 1, not {}", slice, step);
  const auto within = [extent](Index place) {
    return std::clamp<Index>(place < 0 ? place + extent : place, 0, extent);
  };
  const Index begin = within(first.value_or(0));
  const Index end = within(read_number(parts[1], slice).value_or(extent));
  return {begin, end > begin ? (end - begin - 1) / step + 1 : 0, step};
}

}  // namespace

Slab parse_slice(const std::string& text, const std::vector<Index>& extents, const std::string& name) {
  Slab slab = Slab::whole(extents);
  if (text.empty()) return slab;
  const std::vector<std::string> parts = split(text, ',');
  require<ConfigError>(parts.size() <= extents.size(), "--slice {}: it has {}, \"{}\" of shape [{}] has {}",
                       text, counted(parts.size(), "part"), name, fmt::join(extents, ", "),
                       counted(extents.size(), "axis", "axes"));
  for (std::size_t axis = 0; axis < parts.size(); ++axis)
    slab.axes[axis] = read_axis(parts[axis], extents[axis], text);
  return slab;
}

}  // namespace tapeline

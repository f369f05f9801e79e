#include "train/nearest_name.h"

#include <fmt/format.h>

#include <algorithm>

namespace tapeline {

std::size_t edit_distance(std::string_view first, std::string_view second) {
  // Three rows of the table of prefixes: `row[j]` is the distance of first[0, i) to second[0, j).
  const std::size_t columns = second.size() + 1;
  std::vector<std::size_t> before(columns), previous(columns), row(columns);
  for (std::size_t j = 0; j < columns; ++j) row[j] = j;
  for (std::size_t i = 1; i <= first.size(); ++i) {
    before.swap(previous);
    previous.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j < columns; ++j) {
      const std::size_t exchange = previous[j - 1] + (first[i - 1] == second[j - 1] ? 0 : 1);
      row[j] = std::min({exchange, previous[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && first[i - 1] == second[j - 2] && first[i - 2] == second[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[second.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    if (name.size() >= candidate.size() + best) continue;  // too long by itself, and slow to measure
    const std::size_t distance = edit_distance(name, candidate);
    // A short word is near to everything: what shares no letter with it was not meant.
    if (distance < best && distance < std::max(name.size(), candidate.size())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view nearest) {
  return nearest.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", nearest);
}

}  // namespace tapeline

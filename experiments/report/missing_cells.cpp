#include "experiments/report/missing_cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tapeline {

std::vector<std::string> missing_cells(const Comparison& comparison) {
  std::vector<std::string> missing;
  for (const std::uint64_t seed : planned_seeds(comparison)) {
    for (const Variant& variant : all_variants(comparison.config)) {
      if (std::ranges::none_of(comparison.cells, [&](const FinishedCell& cell) {
            return cell.variant == variant.name && cell.seed == seed;
          })) {
        missing.push_back(fmt::format("{}, seed {}", variant.name, seed));
      }
    }
  }
  return missing;
}

std::string missing_text(const Comparison& comparison) {
  constexpr std::size_t named = 12;
  std::vector<std::string> missing = missing_cells(comparison);
  if (missing.empty()) return {};
  const std::size_t count = missing.size(), all = count + comparison.cells.size();
  if (count > named) {
    missing.resize(named);
    missing.push_back(fmt::format("and {} more", count - named));
  }
  return fmt::format("Not complete: {} of {} models {} not there yet ({}). What follows is of the others.",
                     count, all, count == 1 ? "is" : "are", fmt::join(missing, "; "));
}

}  // namespace tapeline

#include "experiments/compare/plain_variant.h"

#include <algorithm>

#include "train/config_loader.h"
#include "train/config_text.h"

namespace tapeline {

bool is_plain(const Config& comparison, const Variant& variant) {
  const bool as_all_others = std::ranges::all_of(variant.changes, [](const auto& change) {
    // Positions are looked at below, where the settings of the comparison count too.
    return change.first.starts_with("positional.") || change.first == "train.length" ||
           change.first.starts_with("evaluate.");
  });
  return as_all_others && positional_changes(with_variant(comparison, variant)).empty();
}

}  // namespace tapeline

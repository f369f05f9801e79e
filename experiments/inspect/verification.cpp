#include "experiments/inspect/verification.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/counted.h"
#include "experiments/inspect/dataset_reading.h"

namespace tapeline {
namespace {

/// `"a", "b" and 3 more`
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 3;
  const std::size_t count = std::min(names.size(), shown);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(count), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace

Verification verify_tensors(const Hdf5Reader& file, Listing& listing) {
  Verification result;
  for (const ListedDataset* dataset : listing.datasets()) {
    const std::string name = fmt::format("\"{}\"", dataset->path);
    if (!dataset->trouble.empty()) {
      result.unread.push_back(name);
      continue;
    }
    if (!dataset->is_tensor()) continue;
    const ReadCheck check = read_check(file, dataset->path);
    ++result.tensors;
    result.numbers += dataset->shape.count();
    const std::string digest = dataset->label("sha256");
    if (!digest.empty()) ++result.digests;
    if (!digest.empty() && digest != check.sha256) result.changed.push_back(name);
    if (check.not_finite > 0)
      result.not_finite.push_back(fmt::format("{} ({})", name, counted(check.not_finite, "value")));
  }
  return result;
}

std::string describe(const Verification& verification) {
  std::vector<std::string> parts;
  const auto add = [&parts](const std::vector<std::string>& names, std::string_view one,
                            std::string_view many) {
    if (!names.empty())
      parts.push_back(fmt::format("{} {}", names_text(names), names.size() == 1 ? one : many));
  };
  add(verification.changed, "does not match its SHA-256", "do not match their SHA-256");
  add(verification.not_finite, "holds NaN or infinite values", "hold NaN or infinite values");
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace tapeline

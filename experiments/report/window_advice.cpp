#include "experiments/report/window_advice.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "experiments/report/ranking.h"
#include "experiments/report/tables.h"
#include "experiments/report/variants.h"

namespace tapeline {
namespace {

struct Candidate {
  const Series* series = nullptr;
  const SeriesPoint* point = nullptr;
  BySeed bits;  ///< a byte
};

/// The best in sliding windows that `fits` takes: compared on the seeds that two have, as in a ranking, since
/// seeds differ more than encodings do.
template <class Fits>
Candidate best_sliding(const std::vector<ResultRow>& rows, const std::vector<Series>& all, Fits fits) {
  std::vector<Candidate> candidates;
  std::vector<BySeed> figures;
  for (const Series& series : all) {
    for (const SeriesPoint& point : series.points) {
      if (point.cell.protocol != Protocol::sliding || !fits(point.cell)) continue;
      BySeed bits = by_seed(rows, series, point.cell, &EvaluationResult::bits_per_byte);
      if (bits.empty()) continue;
      figures.push_back(bits);
      candidates.push_back({&series, &point, std::move(bits)});
    }
  }
  return candidates.empty() ? Candidate{} : candidates[leader_of(figures)];
}

/// "rope with 1.869", "alibi with 2.011 at 128".
std::string named(const Candidate& candidate, bool with_length) {
  return fmt::format("{} with {:.3f}{}", spoken(*candidate.series), candidate.point->bits_per_byte.mean,
                     with_length ? " at " + number_text(candidate.point->cell.length) : std::string());
}

}  // namespace

std::string window_advice(const std::vector<ResultRow>& rows, const std::vector<Series>& all) {
  const Index trained = all.empty() ? 0 : common_train_length(all);
  if (trained == 0) return {};
  const Candidate kept = best_sliding(
      rows, all, [&](const EvaluationCell& cell) { return cell.length == trained && cell.stride == 1; });
  const Candidate longer =
      best_sliding(rows, all, [&](const EvaluationCell& cell) { return cell.length > trained; });
  if (kept.point == nullptr || longer.point == nullptr) return {};
  const Estimate gain = paired_difference(longer.bits, kept.bits);
  if (gain.count == 0 || !std::isfinite(gain.mean)) return {};
  const std::string stays = fmt::format("a window of {} that moves on token by token, best for {}",
                                        number_text(trained), named(kept, false));
  const std::string grows =
      fmt::format("longer windows with as much history, best for {}", named(longer, true));
  const std::string amount =
      fmt::format("{:.3f}{} bits per byte", std::abs(gain.mean),
                  gain.count > 1 ? fmt::format(" ±{:.3f}", gain.half_width) : std::string(" (one seed)"));
  const std::string where = fmt::format("{} sliding targets", number_text(longer.point->scored_tokens));
  constexpr double least = 0.0005;  // bits per byte: what is printed as 0.000 pays nobody
  if (std::abs(gain.mean) < least) {
    return fmt::format(
        "Longer windows bring nothing here: {}, and {}, differ by less than 0.001 bits per byte ({}).", grows,
        stays, where);
  }
  if (gain.count > 1 && gain.lower() <= 0 && gain.upper() >= 0) {
    return fmt::format(
        "Whether longer windows pay is not settled here: {} cannot be told apart from {} ({}).", stays, grows,
        where);
  }
  if (gain.mean > 0) {
    return fmt::format("Longer windows do not pay here: {}, is {} below {} ({}).", stays, amount, grows,
                       where);
  }
  return fmt::format("Longer windows pay here: {}, are {} below {} ({}).", grows, amount, stays, where);
}

}  // namespace tapeline

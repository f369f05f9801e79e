#include "experiments/report/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/report/tables.h"

namespace tapeline {
namespace {

bool measured(const SeriesPoint* point) { return point != nullptr && point->bits_per_byte.count > 0; }

/// Bits per byte of `a` minus those of `b` at `length`, seed by seed.
Estimate paired_difference(const std::vector<ResultRow>& rows, const Series& a, const Series& b,
                           Index length) {
  std::map<std::uint64_t, double> of_a, of_b;
  for (const ResultRow& row : rows) {
    const EvaluationResult& result = row.result;
    if (result.status != "ok" || result.cell.length != length || result.cell.subset ||
        result.cell.protocol != Protocol::nonoverlapping) {
      continue;
    }
    if (row.name == a.variant && row.evaluation == a.evaluation) of_a[row.seed] = result.bits_per_byte;
    if (row.name == b.variant && row.evaluation == b.evaluation) of_b[row.seed] = result.bits_per_byte;
  }
  std::vector<double> differences;
  for (const auto& [seed, value] : of_a) {
    if (const auto other = of_b.find(seed); other != of_b.end()) differences.push_back(value - other->second);
  }
  return estimate(differences);
}

/// Whether the lead of the first over the second is more than the seeds' own spread.
std::string certainty(const std::vector<ResultRow>& rows, const Series& best, const Series& second,
                      Index length) {
  const Estimate lead = paired_difference(rows, best, second, length);
  if (lead.count < 2) return "one seed, so without an interval";
  if (std::abs(lead.mean) > lead.half_width) {
    return fmt::format("{:.3f} ±{:.3f} below {} over {} seeds", -lead.mean, lead.half_width, second.name,
                       lead.count);
  }
  return fmt::format("not told apart from {} by {} seeds", second.name, lead.count);
}

/// How a sentence speaks of a series.
std::string spoken(const Series& series) {
  return series.name == "none" ? std::string("the model without positions (none)") : series.name;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

}  // namespace

std::string token_unit(const Comparison& comparison) {
  return comparison.config.data.tokenizer == "bytes" ? "bytes" : "tokens";
}

std::string answer_text(const Comparison& comparison, const std::vector<Series>& all) {
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  const std::vector<Index> lengths = table_lengths(all);
  if (lengths.empty()) return "Nothing was evaluated.";
  const Index longest = lengths.back();
  const Index trained = common_train_length(all);

  std::vector<const Series*> there;
  std::vector<std::string> refused, diverged;
  for (const Series& series : all) {
    const SeriesPoint* point = series.at(longest);
    if (measured(point)) {
      there.push_back(&series);
    } else if (point != nullptr) {
      (point->diverged > 0 ? diverged : refused).push_back(series.name);
    }
  }
  std::stable_sort(there.begin(), there.end(), [&](const Series* a, const Series* b) {
    return a->at(longest)->bits_per_byte.mean < b->at(longest)->bits_per_byte.mean;
  });

  std::string text = trained == 0 ? "Evaluated on windows of "
                                  : fmt::format("Trained on windows of {} {} and evaluated on windows of ",
                                                number_text(trained), token_unit(comparison));
  text += number_text(longest);
  if (trained > 0 && longest != trained) {
    text += fmt::format(" ({} times as long)",
                        std::round(100 * static_cast<double>(longest) / static_cast<double>(trained)) / 100);
  }
  if (there.empty()) return text + ", no encoding gives a result.";

  const Series& best = *there.front();
  text += fmt::format(", {} {} {:.3f} bits per byte", spoken(best), there.size() > 1 ? "does best:" : "needs",
                      best.at(longest)->bits_per_byte.mean);
  const SeriesPoint* start = best.at(best.train_length);
  if (longest != best.train_length && measured(start)) {
    text += fmt::format(", against {:.3f} at {}", start->bits_per_byte.mean, number_text(best.train_length));
  }
  if (there.size() > 1) text += fmt::format(" ({})", certainty(rows, best, *there[1], longest));
  text += ".";

  std::vector<std::string> others;
  for (std::size_t i = 1; i < there.size(); ++i) {
    const Series& series = *there[i];
    const double end = series.at(longest)->bits_per_byte.mean;
    const SeriesPoint* first = series.at(series.train_length);
    if (longest == series.train_length || !measured(first)) {
      others.push_back(fmt::format("{} needs {:.3f}", spoken(series), end));
      continue;
    }
    others.push_back(fmt::format("{} goes from {:.3f} to {:.3f} (perplexity × {:.2f})", spoken(series),
                                 first->bits_per_byte.mean, end,
                                 perplexity_ratio(rows, series, longest).mean));
  }
  if (!others.empty()) {
    text += fmt::format(" {}{}.", others.size() > 1 ? "Of the others, " : "", joined(others));
  }
  if (!refused.empty()) {
    text += fmt::format(" {} cannot be evaluated at {}{}.", joined(refused), number_text(longest),
                        trained > 0 ? fmt::format(": no positions past {}", number_text(trained)) : "");
  }
  if (!diverged.empty()) text += fmt::format(" {} diverged.", joined(diverged));
  return text;
}

}  // namespace tapeline

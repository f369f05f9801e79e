#include "experiments/report/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/counted.h"
#include "experiments/report/ranking.h"
#include "experiments/report/tables.h"
#include "experiments/report/variants.h"
#include "experiments/report/window_advice.h"

namespace tapeline {
namespace {

bool measured(const SeriesPoint* point) { return point != nullptr && point->bits_per_byte.count > 0; }

/// Whether the lead of the first over the second is more than the seeds' own spread.
std::string certainty(const Comparison& comparison, const Ranking& ranking) {
  const std::string second = spoken(*ranking.order[1]);
  const Estimate& behind = ranking.behind[1];
  if (comparison.config.compare.seeds == 1) return "one seed, so without an interval";
  if (behind.count < 2) {
    return fmt::format("{} seed has both this and {}{}, so without an interval",
                       behind.count == 1 ? "one" : "no", second,
                       behind.mean < 0 ? fmt::format(", which is {:.3f} lower there", -behind.mean) : "");
  }
  const std::string seeds = behind.count < comparison.config.compare.seeds
                                ? fmt::format("the {} seeds that both have", behind.count)
                                : fmt::format("{} seeds", behind.count);
  if (behind.lower() > 0)
    return fmt::format("{:.3f} ±{:.3f} bits below {} over {}", behind.mean, behind.half_width, second, seeds);
  if (behind.upper() < 0) {
    return fmt::format("but {} is {:.3f} ±{:.3f} lower over {}", second, -behind.mean, behind.half_width,
                       seeds);
  }
  return fmt::format("not told apart from {} by {}", second, seeds);
}

/// Of a series that has not the leader's seeds: "0.013 above alibi on the 2 seeds that both have"; else
/// empty.
std::string beside_leader(const Ranking& ranking, std::size_t place, Index length) {
  const auto seeds = [&](const Series& series) { return series.at(length)->bits_per_byte.count; };
  const Estimate& behind = ranking.behind[place];
  if (behind.count == seeds(ranking.leader()) && behind.count == seeds(*ranking.order[place])) return {};
  const std::string leader = spoken(ranking.leader());
  if (behind.count == 0) return fmt::format("no seed in common with {}", leader);
  return fmt::format("{:.3f} {} {} on the {} that both have", std::abs(behind.mean),
                     behind.mean < 0 ? "below" : "above", leader,
                     behind.count == 1 ? std::string("seed") : fmt::format("{} seeds", behind.count));
}

/// The longest length that every series was evaluated at, be it in vain; 0 when there is none.
Index longest_common_length(const std::vector<Series>& all, const std::vector<Index>& lengths) {
  for (auto length = lengths.rbegin(); length != lengths.rend(); ++length) {
    if (std::ranges::all_of(all, [&](const Series& series) { return series.at(*length) != nullptr; })) {
      return *length;
    }
  }
  return 0;
}

/// "Trained on windows of 64 bytes and evaluated on windows of "; several trained lengths each with its
/// variants: "Trained on windows of 32 (a, b) and 64 bytes (c) …".
std::string opening(const Comparison& comparison, const std::vector<Series>& all) {
  std::map<Index, std::vector<std::string>> variants;
  for (const Series& series : all) {
    std::vector<std::string>& names = variants[series.train_length];
    if (std::ranges::find(names, series.variant) == names.end()) names.push_back(series.variant);
  }
  std::vector<std::string> parts;
  for (const auto& [length, names] : variants) {
    const std::string unit =
        length == variants.rbegin()->first ? fmt::format(" {}", token_unit(comparison)) : std::string();
    const std::string who =
        variants.size() > 1 ? fmt::format(" ({})", fmt::join(names, ", ")) : std::string();
    parts.push_back(number_text(length) + unit + who);
  }
  return fmt::format("Trained on windows of {} and evaluated on windows of ", joined(parts));
}

struct Divergence {
  Index trained = 0, diverged = 0;
};

std::vector<std::pair<std::string, Divergence>> divergence_by_variant(const Comparison& comparison) {
  std::vector<std::pair<std::string, Divergence>> all;
  for (const FinishedCell& cell : comparison.cells) {
    auto place = std::ranges::find(all, cell.variant, &std::pair<std::string, Divergence>::first);
    if (place == all.end()) place = all.insert(all.end(), {cell.variant, {}});
    ++place->second.trained;
    place->second.diverged += cell.record.training == "diverged" ? 1 : 0;
  }
  return all;
}

/// " 2 of 6 models diverged in training (rope 1 of 3, learned 1 of 3) and are left out of every mean."
/// and what stopped being a number only at `length`.
std::string divergence_text(const Comparison& comparison, const std::vector<Series>& all, Index length) {
  Divergence total;
  std::vector<std::string> named;
  std::map<std::string, Index> diverged_in_training;
  for (const auto& [variant, count] : divergence_by_variant(comparison)) {
    total.trained += count.trained;
    total.diverged += count.diverged;
    diverged_in_training[variant] = count.diverged;
    if (count.diverged == 0) continue;
    named.push_back(count.trained == 1 ? variant
                                       : fmt::format("{} {} of {}", variant, count.diverged, count.trained));
  }
  std::string text;
  if (total.diverged > 0) {
    text += fmt::format(" {} of {} diverged in training ({}) and {} left out of every mean.", total.diverged,
                        counted(total.trained, "model"), joined(named), total.diverged == 1 ? "is" : "are");
  }
  std::vector<std::string> later;
  for (const Series& series : all) {
    const SeriesPoint* point = series.at(length);
    if (point == nullptr) continue;
    const Index here = point->diverged - diverged_in_training[series.variant];
    if (here > 0) later.push_back(fmt::format("{} ({} of {})", spoken(series), here, point->seeds));
  }
  if (!later.empty()) {
    text += fmt::format(" At {} the loss is not a finite number for {}; that too is left out.",
                        number_text(length), joined(later));
  }
  return text;
}

/// " rope goes from 2.308 to 3.030 (perplexity × 1.65)."
std::string others_text(const Comparison& comparison, const Ranking& ranking, Index length,
                        bool name_trained_length) {
  constexpr std::size_t named = 8;  // more than these nobody reads in one sentence
  const std::vector<const Series*>& there = ranking.order;
  if (there.size() > named + 1) {
    const auto short_text = [&](const Series* series) {
      return fmt::format("{} with {:.3f}", spoken(*series), series->at(length)->bits_per_byte.mean);
    };
    return fmt::format(" Of the other {}, the next are {}, {} and {}; the last is {}.{}", there.size() - 1,
                       short_text(there[1]), short_text(there[2]), short_text(there[3]),
                       short_text(there.back()),
                       ranking.same_seeds ? std::string()
                                          : fmt::format(" Their order is that of the seeds that each has in "
                                                        "common with {}.",
                                                        spoken(ranking.leader())));
  }
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  std::vector<std::string> others;
  for (std::size_t i = 1; i < there.size(); ++i) {
    const Series& series = *there[i];
    const double end = series.at(length)->bits_per_byte.mean;
    const SeriesPoint* first = series.at(series.train_length);
    const std::string beside = beside_leader(ranking, i, length);
    if (length <= series.train_length || !measured(first)) {
      others.push_back(fmt::format("{} needs {:.3f}{}", spoken(series), end,
                                   beside.empty() ? beside : fmt::format(" ({})", beside)));
      continue;
    }
    others.push_back(fmt::format(
        "{} goes from {:.3f}{} to {:.3f} ({} × {:.2f}{}{})", spoken(series), first->bits_per_byte.mean,
        name_trained_length ? fmt::format(" at {}", number_text(series.train_length)) : std::string(), end,
        token_unit(comparison) == "bytes" ? "perplexity" : "perplexity per byte",
        std::exp(log_perplexity_ratio(rows, series, length).mean), beside.empty() ? "" : "; ", beside));
  }
  if (others.empty()) return {};
  return fmt::format(" {}{}.", others.size() > 1 ? "Of the others, " : "", joined(others));
}

/// " At the trained length itself, 64, rope does best with 2.275 (0.130 ±0.012 bits below alibi over 3
/// seeds)."
std::string at_trained_text(const Comparison& comparison, const std::vector<Series>& all, Index trained) {
  const Ranking ranking = ranking_at(result_rows(comparison.cells), all, trained);
  if (ranking.order.size() < 2) return {};
  return fmt::format(" At the trained length itself, {}, {} does best with {:.3f} ({}).",
                     number_text(trained), spoken(ranking.leader()),
                     ranking.leader().at(trained)->bits_per_byte.mean, certainty(comparison, ranking));
}

/// What there is to say where no length was evaluated in non-overlapping windows.
std::string without_lengths(const std::vector<Series>& all) {
  const bool evaluated =
      std::ranges::any_of(all, [](const Series& series) { return !series.points.empty(); });
  if (!evaluated) return "Nothing was evaluated.";
  return "The models were evaluated in sliding windows alone. Lengths are compared, and verdicts given, in "
         "non-overlapping windows, so there is no answer here; the losses in sliding windows stand below.";
}

}  // namespace

Answer answer(const Comparison& comparison, const std::vector<Series>& all) {
  const std::vector<Index> lengths = table_lengths(all);
  if (lengths.empty()) return {without_lengths(all), {}};
  const Index common = longest_common_length(all, lengths);
  const Index longest = common > 0 ? common : lengths.back();
  const Index trained = common_train_length(all);

  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  const Ranking ranking = ranking_at(rows, all, longest);
  std::vector<std::string> refused, absent;
  for (const Series& series : all) {
    const SeriesPoint* point = series.at(longest);
    if (measured(point)) continue;
    if (point == nullptr) {
      absent.push_back(spoken(series));
    } else if (point->refused > 0) {
      refused.push_back(spoken(series));
    }
  }

  std::string text = opening(comparison, all) + number_text(longest);
  if (trained > 0 && longest != trained) {
    text += fmt::format(" ({} times as long)",
                        std::round(100 * static_cast<double>(longest) / static_cast<double>(trained)) / 100);
  }
  if (longest < lengths.back()) text += ", the longest that all were evaluated at";
  if (ranking.empty()) {
    text += fmt::format(", no {} gives a result.", variant_word(comparison.config));
  } else {
    const Series& best = ranking.leader();
    const bool alone = ranking.order.size() == 1;
    text += fmt::format(", {} {} {:.3f} bits per byte", spoken(best),
                        alone ? "needs" : "does best:", best.at(longest)->bits_per_byte.mean);
    const SeriesPoint* start = best.at(best.train_length);
    if (longest != best.train_length && measured(start)) {
      text +=
          fmt::format(", against {:.3f} at {}", start->bits_per_byte.mean, number_text(best.train_length));
    }
    if (!alone) text += fmt::format(" ({})", certainty(comparison, ranking));
    text += ".";
  }
  text += divergence_text(comparison, all, longest);
  std::string details = others_text(comparison, ranking, longest, trained == 0);
  if (trained > 0 && longest != trained) details += at_trained_text(comparison, all, trained);
  if (!refused.empty()) {
    details += fmt::format(" {} cannot be evaluated at {}: no positions that far.", joined(refused),
                           number_text(longest));
  }
  if (!absent.empty()) {
    details += fmt::format(" {} {} not evaluated at {}.", joined(absent), absent.size() == 1 ? "was" : "were",
                           number_text(longest));
  }
  if (const std::string advice = window_advice(rows, all); !advice.empty()) details += ' ' + advice;
  return {text, details.empty() ? details : details.substr(1)};
}

std::string answer_text(const Comparison& comparison, const std::vector<Series>& all) {
  const auto [headline, details] = answer(comparison, all);
  return details.empty() ? headline : headline + ' ' + details;
}

}  // namespace tapeline

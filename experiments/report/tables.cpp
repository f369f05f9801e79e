#include "experiments/report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "experiments/report/variants.h"

namespace tapeline {
namespace {

/// One stride of the sliding protocol at one length.
struct SlidingColumn {
  Index length = 0, stride = 0;
  friend auto operator<=>(const SlidingColumn&, const SlidingColumn&) = default;
};

std::vector<SlidingColumn> sliding_columns(const std::vector<Series>& all) {
  std::set<SlidingColumn> columns;
  for (const Series& series : all) {
    for (const SeriesPoint& point : series.points) {
      if (point.cell.protocol == Protocol::sliding) columns.insert({point.cell.length, point.cell.stride});
    }
  }
  return {columns.begin(), columns.end()};
}

}  // namespace

std::string number_text(Index number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && digits[i - 1] != '-' && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string joined(const std::vector<std::string>& parts, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? fmt::format(" {} ", last) : ", ";
    text += parts[i];
  }
  return text;
}

std::string token_word(const Comparison& comparison) {
  return comparison.config.data.tokenizer == "bytes" ? "byte" : "token";
}

std::string token_unit(const Comparison& comparison) { return token_word(comparison) + 's'; }

Index sliding_tokens(const std::vector<Series>& all) {
  Index tokens = 0;
  for (const Series& series : all) {
    for (const SeriesPoint& point : series.points) {
      if (point.cell.protocol == Protocol::sliding) tokens = std::max(tokens, point.scored_tokens);
    }
  }
  return tokens;
}

Index common_train_length(const std::vector<Series>& all) {
  for (const Series& series : all) {
    if (series.train_length != all.front().train_length) return 0;
  }
  return all.empty() ? 0 : all.front().train_length;
}

std::string interval_text(const Estimate& estimate, int digits) {
  if (std::isnan(estimate.half_width)) return fmt::format("{:.{}f}", estimate.mean, digits);
  return fmt::format("{:.{}f} ±{:.{}f}", estimate.mean, digits, estimate.half_width, digits);
}

std::string length_header(Index length, Index train_length) {
  if (train_length == 0) return number_text(length);
  const double times = static_cast<double>(length) / static_cast<double>(train_length);
  return fmt::format("{} ({}×)", number_text(length), std::round(times * 100) / 100);
}

std::string seeds_note(const Comparison& comparison) {
  std::map<std::string, Index> seeds;
  for (const FinishedCell& cell : comparison.cells) ++seeds[cell.variant];
  Index fewest = comparison.config.compare.seeds, most = 0;
  for (const auto& [variant, count] : seeds) {
    fewest = std::min(fewest, count);
    most = std::max(most, count);
  }
  if (most <= 1) return "One seed: no interval.";
  return fmt::format(
      "Means over {} seeds ± half-width of the 95 % t-interval{}.",
      fewest == most ? number_text(most) : fmt::format("{} to {}", number_text(fewest), number_text(most)),
      fewest > 1 ? "" : "; over one seed there is none");
}

std::vector<std::string> row_label(const std::string& name, const Series& series,
                                   const std::vector<Series>& all) {
  if (common_train_length(all) != 0) return {name};
  return {name, number_text(series.train_length)};
}

ReportTable table_of_series(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table;
  table.header = {variant_word(comparison.config)};
  if (common_train_length(all) == 0) table.header.push_back("trained at");
  table.labels = table.header.size();
  return table;
}

std::string bits_text(const SeriesPoint* point) {
  if (point == nullptr) return "–";
  if (point->bits_per_byte.count > 0) {
    const std::string text = interval_text(point->bits_per_byte, 3);
    return point->diverged == 0 ? text
                                : fmt::format("{} ({} of {} diverged)", text, point->diverged, point->seeds);
  }
  return point->diverged > 0 ? "diverged" : "n/a";
}

ReportTable length_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = table_of_series(comparison, all);
  table.title = fmt::format("Bits per byte by {} and length of the evaluated window, non-overlapping windows",
                            variant_word(comparison.config));
  const std::vector<Index> lengths = table_lengths(all);
  bool refused = false, absent = false, short_windows = false;
  for (const Index length : lengths) {
    const bool cut = std::ranges::any_of(all, [&](const Series& series) {
      const SeriesPoint* point = series.at(length);
      return point != nullptr && point->short_windows;
    });
    short_windows = short_windows || cut;
    table.header.push_back(length_header(length, common_train_length(all)) + (cut ? "*" : ""));
  }
  for (const Series& series : all) {
    std::vector<std::string> row = row_label(series.name, series, all);
    for (const Index length : lengths) {
      const SeriesPoint* point = series.at(length);
      refused = refused || (point != nullptr && point->refused > 0);
      absent = absent || point == nullptr;
      row.push_back(bits_text(point));
    }
    table.rows.push_back(std::move(row));
  }
  const std::string unit = token_unit(comparison);
  table.notes = {fmt::format("{} scored {}, the same at every length and for every {}; every window starts "
                             "without history, and its first target sees one {}.",
                             number_text(comparison.scored_tokens), unit, variant_word(comparison.config),
                             token_word(comparison)),
                 seeds_note(comparison)};
  if (refused) table.notes.push_back("n/a: refused, the encoding has no such positions.");
  if (absent) table.notes.push_back("–: not evaluated at this length.");
  if (short_windows)
    table.notes.push_back("*: some windows are shorter than that, at the ends of what is scored.");
  for (const std::string& settings : positional_settings(comparison.config))
    table.notes.push_back(settings + ".");
  if (const std::string text = evaluations_text(comparison.config); !text.empty())
    table.notes.push_back(text);
  return table;
}

ReportTable sliding_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = table_of_series(comparison, all);
  table.title = "Bits per byte with history: sliding windows, and non-overlapping ones over the same targets";
  const std::vector<SlidingColumn> columns = sliding_columns(all);
  if (columns.empty()) return table;
  for (const auto& [length, stride] : columns) {
    table.header.push_back(fmt::format("{}, stride {}", number_text(length), stride));
  }
  for (const Series& series : all) {
    std::vector<std::string> sliding = row_label(series.name + ", sliding", series, all),
                             beside = row_label(series.name + ", non-overlapping", series, all);
    for (const auto& [length, stride] : columns) {
      sliding.push_back(bits_text(series.find(Protocol::sliding, length, stride, true)));
      beside.push_back(bits_text(series.find(Protocol::nonoverlapping, length, length, true)));
    }
    table.rows.push_back(std::move(sliding));
    table.rows.push_back(std::move(beside));
  }
  table.notes = {
      fmt::format("{} scored {}, a part of the whole scored set. A sliding window of length T and stride S "
                  "scores its last S targets, which see T - S + 1 to T tokens. What non-overlapping windows "
                  "gain with length is mostly their smaller share of targets without history.",
                  number_text(sliding_tokens(all)), token_unit(comparison))};
  return table;
}

}  // namespace tapeline

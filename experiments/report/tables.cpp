#include "experiments/report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/report/variants.h"
#include "experiments/table.h"

namespace tapeline {
namespace {

std::string interval_text(const Estimate& estimate, int digits) {
  if (std::isnan(estimate.half_width)) return fmt::format("{:.{}f}", estimate.mean, digits);
  return fmt::format("{:.{}f} ±{:.{}f}", estimate.mean, digits, estimate.half_width, digits);
}

/// "1,024" and how many times the trained length, when all share one: "1,024 (16×)".
std::string length_header(Index length, Index train_length) {
  if (train_length == 0) return number_text(length);
  const double times = static_cast<double>(length) / static_cast<double>(train_length);
  return fmt::format("{} ({}×)", number_text(length), std::round(times * 100) / 100);
}

std::string seeds_note(const Comparison& comparison) {
  const Index seeds = comparison.config.compare.seeds;
  return seeds == 1 ? "One seed: no interval."
                    : fmt::format("Means over {} seeds ± half-width of the 95 % t-interval.", seeds);
}

/// The label of a row: what it is of, and where the trained lengths differ its own.
std::vector<std::string> label(const std::string& name, const Series& series,
                               const std::vector<Series>& all) {
  if (common_train_length(all) != 0) return {name};
  return {name, number_text(series.train_length)};
}

void start(ReportTable& table, const Comparison& comparison, const std::vector<Series>& all) {
  table.header = {variant_word(comparison.config)};
  if (common_train_length(all) == 0) table.header.push_back("trained at");
  table.labels = table.header.size();
}

std::size_t widest_word(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    widest = std::max(widest, display_width(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

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

Index subset_tokens(const std::vector<Series>& all) {
  Index tokens = 0;
  for (const Series& series : all) {
    for (const SeriesPoint& point : series.points) {
      if (point.cell.protocol == Protocol::sliding) tokens = std::max(tokens, point.scored_tokens);
    }
  }
  return tokens;
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

std::string token_unit(const Comparison& comparison) {
  return comparison.config.data.tokenizer == "bytes" ? "bytes" : "tokens";
}

Index common_train_length(const std::vector<Series>& all) {
  for (const Series& series : all) {
    if (series.train_length != all.front().train_length) return 0;
  }
  return all.empty() ? 0 : all.front().train_length;
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
  ReportTable table;
  table.title = fmt::format("Bits per byte by {} and length of the evaluated window, non-overlapping windows",
                            variant_word(comparison.config));
  const std::vector<Index> lengths = table_lengths(all);
  start(table, comparison, all);
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
    std::vector<std::string> row = label(series.name, series, all);
    for (const Index length : lengths) {
      const SeriesPoint* point = series.at(length);
      refused = refused || (point != nullptr && point->refused > 0);
      absent = absent || point == nullptr;
      row.push_back(bits_text(point));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {fmt::format("{} scored tokens, the same at every length and for every {}; every window "
                             "starts without history, and its first target sees one token.",
                             number_text(comparison.scored_tokens), variant_word(comparison.config)),
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
  ReportTable table;
  table.title = "Bits per byte with history: sliding windows, and non-overlapping ones over the same targets";
  const std::vector<SlidingColumn> columns = sliding_columns(all);
  if (columns.empty()) return table;
  start(table, comparison, all);
  for (const auto& [length, stride] : columns) {
    table.header.push_back(fmt::format("{}, stride {}", number_text(length), stride));
  }
  for (const Series& series : all) {
    std::vector<std::string> sliding = label(series.name + ", sliding", series, all),
                             beside = label(series.name + ", non-overlapping", series, all);
    for (const auto& [length, stride] : columns) {
      sliding.push_back(bits_text(series.find(Protocol::sliding, length, stride, true)));
      beside.push_back(bits_text(series.find(Protocol::nonoverlapping, length, length, true)));
    }
    table.rows.push_back(std::move(sliding));
    table.rows.push_back(std::move(beside));
  }
  table.notes = {
      fmt::format("{} scored tokens of the set above. A sliding window of length T and stride S scores its "
                  "last S targets, "
                  "which see T - S + 1 to T tokens. What non-overlapping windows gain with length is mostly "
                  "their smaller "
                  "share of targets without history.",
                  number_text(subset_tokens(all)))};
  return table;
}

ReportTable ratio_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table;
  table.title = "Perplexity over perplexity at the trained length, non-overlapping windows (below 1: better)";
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  const std::vector<Index> lengths = table_lengths(all);
  start(table, comparison, all);
  for (const Index length : lengths) table.header.push_back(length_header(length, common_train_length(all)));
  for (const Series& series : all) {
    std::vector<std::string> row = label(series.name, series, all);
    for (const Index length : lengths) {
      const Estimate ratio = perplexity_ratio(rows, series, length);
      // 1 at the trained length by definition: no estimate, and no interval.
      row.push_back(ratio.count == 0                ? bits_text(series.at(length))
                    : length == series.train_length ? std::string("1")
                                                    : interval_text(ratio, 3));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {"Within one model and on the same targets; over seeds paired."};
  return table;
}

ReportTable training_table(const Comparison& comparison) {
  ReportTable table;
  table.title = "The trained models";
  table.header = {"cell", "trained length", "parameters", "last training loss, nats per token",
                  "tokens per second"};
  for (const FinishedCell& cell : comparison.cells) {
    const bool diverged = cell.record.training == "diverged";
    table.rows.push_back(
        {fmt::format("{}, seed {}", cell.variant, cell.seed), number_text(cell.train_length),
         diverged ? "–" : number_text(cell.record.parameters),
         diverged ? "diverged" : fmt::format("{:.4f}", cell.record.training_loss),
         cell.record.tokens_per_second > 0 ? number_text(std::llround(cell.record.tokens_per_second)) : "–"});
  }
  table.notes = {fmt::format("{} thread{}. Speeds are medians over the steps.", comparison.threads,
                             comparison.threads == 1 ? "" : "s")};
  return table;
}

std::string terminal_text(const ReportTable& table, std::size_t width) {
  const auto set = [&](std::size_t begin, std::size_t end) {
    Table text;
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < table.header.size(); ++c) {
      if (c < table.labels || (c >= begin && c < end)) columns.push_back(c);
    }
    for (const std::size_t c : columns) {
      text.column(table.header[c], c == 0 ? Table::Align::left : Table::Align::right);
    }
    for (const std::vector<std::string>& row : table.rows) {
      std::vector<std::string> cells;
      for (const std::size_t c : columns) cells.push_back(row[c]);
      text.row(std::move(cells));
    }
    return text.text(width);
  };
  // What a column takes; the first one may be broken, but not within its words.
  std::vector<std::size_t> taken;
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    const auto least = [&](const std::string& cell) {
      return c == 0 ? widest_word(cell) : display_width(cell);
    };
    taken.push_back(least(table.header[c]));
    for (const std::vector<std::string>& row : table.rows) taken[c] = std::max(taken[c], least(row[c]));
  }
  const auto fits = [&](std::size_t begin, std::size_t end) {
    std::size_t total = 0;
    for (std::size_t c = 0; c < end; ++c) {
      if (c < table.labels || c >= begin) total += taken[c] + (c == 0 ? 0 : 2);
    }
    return total <= width;
  };
  const std::size_t notes_width = width == 0 ? 100 : width;
  const auto paragraph = [&](const std::string& text) {
    std::string lines;
    for (const std::string& line : wrapped(text, notes_width)) lines += line + '\n';
    return lines;
  };
  std::string all = (width == 0 ? table.title + '\n' : paragraph(table.title)) + '\n';
  for (std::size_t begin = table.labels, end = begin; begin < table.header.size(); begin = end) {
    if (begin > table.labels) all += '\n';
    end = width == 0 ? table.header.size() : begin + 1;
    while (end < table.header.size() && fits(begin, end + 1)) ++end;
    all += set(begin, end);
  }
  for (const std::string& note : table.notes) all += paragraph(note);
  return all;
}

}  // namespace tapeline

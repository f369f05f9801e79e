#include "experiments/report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

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
  table.title = "Bits per byte by encoding and length of the evaluated window, non-overlapping windows";
  const std::vector<Index> lengths = table_lengths(all);
  table.header = {"encoding"};
  for (const Index length : lengths) table.header.push_back(length_header(length, common_train_length(all)));
  bool refused = false;
  for (const Series& series : all) {
    std::vector<std::string> row = {series.name};
    for (const Index length : lengths) {
      const SeriesPoint* point = series.at(length);
      refused = refused || (point != nullptr && point->refused > 0);
      row.push_back(bits_text(point));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      fmt::format("{} scored tokens, the same at every length and for every encoding; every window "
                  "starts without history, and its first target sees one token.",
                  number_text(comparison.scored_tokens)),
      seeds_note(comparison)};
  if (refused) table.notes.push_back("n/a: refused, the encoding has no such positions.");
  return table;
}

ReportTable sliding_table(const Comparison&, const std::vector<Series>& all) {
  ReportTable table;
  table.title = "Bits per byte with history: sliding windows, and non-overlapping ones over the same targets";
  const std::vector<SlidingColumn> columns = sliding_columns(all);
  if (columns.empty()) return table;
  table.header = {"encoding"};
  for (const auto& [length, stride] : columns) {
    table.header.push_back(fmt::format("{}, stride {}", number_text(length), stride));
  }
  for (const Series& series : all) {
    std::vector<std::string> sliding = {series.name + ", sliding"},
                             beside = {series.name + ", non-overlapping"};
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
  table.header = {"encoding"};
  for (const Index length : lengths) table.header.push_back(length_header(length, common_train_length(all)));
  for (const Series& series : all) {
    std::vector<std::string> row = {series.name};
    for (const Index length : lengths) {
      const Estimate ratio = perplexity_ratio(rows, series, length);
      row.push_back(ratio.count > 0 ? interval_text(ratio, 3) : bits_text(series.at(length)));
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
  table.notes = {fmt::format("{} threads. Speeds are medians over the steps.", comparison.threads)};
  return table;
}

std::string terminal_text(const ReportTable& table) {
  Table text;
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    text.column(table.header[c], c == 0 ? Table::Align::left : Table::Align::right);
  }
  for (const std::vector<std::string>& row : table.rows) text.row(row);
  const std::size_t width = terminal_width() == 0 ? 100 : terminal_width();
  std::string all = table.title + "\n\n" + text.text(terminal_width());
  for (const std::string& note : table.notes) {
    for (const std::string& line : wrapped(note, width)) all += line + '\n';
  }
  return all;
}

}  // namespace tapeline

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"

namespace tapeline {

/// A table as text cells, for the terminal and for the page. The first column is text, the others are
/// numbers.
struct ReportTable {
  std::string title;  ///< what the numbers are, with their unit
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::size_t labels = 1;          ///< columns in front that say what a row is, not what came out
  std::vector<std::string> notes;  ///< what a reader must know beside it: tokens scored, conventions
};

/// "1,024".
std::string number_text(Index number);
/// "rope, alibi and none".
std::string joined(const std::vector<std::string>& parts, std::string_view last = "and");
/// "byte", or "token" where a token is not a byte.
std::string token_word(const Comparison& comparison);
/// "bytes", or "tokens" where a token is not a byte.
std::string token_unit(const Comparison& comparison);
/// Targets of the sliding subset, which sliding windows and all that is compared with them are scored on; 0
/// without any.
Index sliding_tokens(const std::vector<Series>& all);
/// The trained length of all series; 0 when they differ.
Index common_train_length(const std::vector<Series>& all);

/// "2.402", "2.402 ±0.013": a mean with the half-width of its interval, when it has one.
std::string interval_text(const Estimate& estimate, int digits);
/// "1,024" and how many times the trained length, when all share one: "1,024 (16×)".
std::string length_header(Index length, Index train_length);
/// What the ± of a table is, or that there is none.
std::string seeds_note(const Comparison& comparison);
/// A table with a row a series: its first column, and where the trained lengths differ a second one with
/// them.
ReportTable table_of_series(const Comparison& comparison, const std::vector<Series>& all);
/// What stands in these columns for `series`.
std::vector<std::string> row_label(const std::string& name, const Series& series,
                                   const std::vector<Series>& all);

/// "2.402", "2.402 ±0.013"; "n/a" for a refused length, "diverged", "–" for what was not evaluated.
std::string bits_text(const SeriesPoint* point);

/// Bits per byte by series and length, non-overlapping windows, on the whole scored set.
ReportTable length_table(const Comparison& comparison, const std::vector<Series>& all);

/// Bits per byte with full history: sliding windows with stride 1 at the trained length and the configured
/// stride at longer ones, with non-overlapping windows over the same targets beside each. Without rows when
/// sliding was not asked for.
ReportTable sliding_table(const Comparison& comparison, const std::vector<Series>& all);

/// A table for a terminal of `width` columns (0: none, no limit), its title above, its notes below. What is
/// too wide is set as several tables, one below the other, each with the first columns.
std::string terminal_text(const ReportTable& table, std::size_t width);

}  // namespace tapeline

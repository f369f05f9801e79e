#include "experiments/report/html_parts.h"
#include "experiments/report/ranking.h"
#include "experiments/report/ratio_tables.h"
#include "experiments/report/sections/section.h"

namespace tapeline {
namespace {

/// Of each column of the table of lengths what is set in bold: the leader of its ranking.
struct BestOfColumns {
  std::vector<std::string> texts;
  bool same_seeds = true;  ///< in every column all have the same seeds
};

BestOfColumns best_of_columns(const ReportTable& table, const ReportData& data) {
  BestOfColumns best{std::vector<std::string>(table.labels)};
  for (const Index length : table_lengths(data.all)) {
    const Ranking ranking = ranking_at(data.rows, data.all, length);
    best.texts.push_back(ranking.empty() ? std::string() : bits_text(ranking.leader().at(length)));
    best.same_seeds = best.same_seeds && ranking.same_seeds;
  }
  return best;
}

}  // namespace

Section length_section(const ReportData& data) {
  Section section{"length", "Length", "Loss against length", {}};
  ReportTable lengths = length_table(data.comparison, data.all);
  if (table_lengths(data.all).empty()) return section;
  const BestOfColumns best = best_of_columns(lengths, data);
  lengths.notes.push_back(
      best.same_seeds ? "Bold: the lowest of a column, be its lead certain or not."
                      : "Bold: the best of a column, be its lead certain or not. Not all rows have the "
                        "same seeds, and seeds differ, so it need not be the lowest mean: rows are "
                        "compared with it on the seeds that both have.");
  section.body = html_table(lengths, "lengths", best.texts);
  if (const ReportTable ratios = ratio_table(data.comparison, data.all); !ratios.rows.empty())
    section.body += html_table(ratios, "ratios");
  if (const ReportTable spread = ratio_spread_table(data.comparison, data.all); !spread.rows.empty())
    section.body += html_table(spread, "ratio-spread");
  return section;
}

}  // namespace tapeline

#include "experiments/report/html_parts.h"
#include "experiments/report/sections/section.h"

namespace tapeline {
namespace {

/// The lowest number of each column of the table of lengths is set in bold.
std::vector<std::string> best_of_columns(const ReportTable& table, const std::vector<Series>& all) {
  std::vector<std::string> best(table.labels);
  for (const Index length : table_lengths(all)) {
    const SeriesPoint* lowest = nullptr;
    for (const Series& series : all) {
      const SeriesPoint* point = series.at(length);
      if (point == nullptr || point->bits_per_byte.count == 0) continue;
      if (lowest == nullptr || point->bits_per_byte.mean < lowest->bits_per_byte.mean) lowest = point;
    }
    best.push_back(lowest == nullptr ? std::string() : bits_text(lowest));
  }
  return best;
}

}  // namespace

Section length_section(const ReportData& data) {
  Section section{"length", "Length", "Loss against length", {}};
  ReportTable lengths = length_table(data.comparison, data.all);
  lengths.notes.push_back("Bold: the lowest of a column, be its lead certain or not.");
  section.body = html_table(lengths, "lengths", best_of_columns(lengths, data.all)) +
                 html_table(ratio_table(data.comparison, data.all), "ratios");
  return section;
}

}  // namespace tapeline

#include "experiments/position_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "experiments/table.h"

namespace tapeline {
namespace {

/// 1, 2, 3-4, 5-8, ...: the last position of the doubling in which `position` lies.
Index doubling(Index position) {
  Index last = 1;
  while (last < position) last *= 2;
  return last;
}

}  // namespace

std::string position_table(const std::vector<EvaluationResult>& results, std::size_t width) {
  std::vector<const EvaluationResult*> shown;
  for (const EvaluationResult& result : results) {
    if (result.cell.on_whole_set() && result.status == "ok") shown.push_back(&result);
  }
  if (shown.empty()) return "";
  struct Sum {
    double total = 0;
    Index tokens = 0;
  };
  std::map<Index, std::vector<Sum>> rows;  // by the last position
  for (std::size_t column = 0; column < shown.size(); ++column) {
    for (const PositionBin& bin : shown[column]->positions) {
      std::vector<Sum>& row = rows[doubling(bin.last)];
      row.resize(shown.size());
      row[column].total += bin.nll * static_cast<double>(bin.tokens);
      row[column].tokens += bin.tokens;
    }
  }
  Table table;
  table.column("position");
  std::vector<std::string> windows{"windows"};
  for (const EvaluationResult* result : shown) {
    table.column(fmt::format("length {}", result->cell.length));
    const auto first = std::ranges::find(result->positions, Index{1}, &PositionBin::first);
    windows.push_back(first == result->positions.end() ? "" : fmt::format("{}", first->tokens));
  }
  table.row(std::move(windows)).rule();
  for (const auto& [last, sums] : rows) {
    const Index first = last / 2 + 1;
    std::vector<std::string> cells{first >= last ? fmt::format("{}", last)
                                                 : fmt::format("{}-{}", first, last)};
    for (const Sum& sum : sums)
      cells.push_back(sum.tokens == 0 ? ""
                                      : fmt::format("{:.4f}", sum.total / static_cast<double>(sum.tokens)));
    table.row(std::move(cells));
  }
  return titled(
      "positions: nats/token by position in the window (non-overlapping)", table,
      "the target at position p is predicted from the p tokens of the window before it; one target a "
      "window and position",
      width);
}

}  // namespace tapeline

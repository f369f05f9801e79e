#include "experiments/report/window_phase_table.h"

#include <fmt/format.h>

#include <numbers>

#include "core/counted.h"
#include "experiments/report/figure_text.h"
#include "experiments/report/probe_series.h"
#include "experiments/report/variants.h"
#include "experiments/window_phase.h"

namespace tapeline {
namespace {

/// Seeds of a series whose loss the shifted grid moves out of the interval over the text, and that have one.
struct PhaseCount {
  Index outside = 0, known = 0;
};

PhaseCount phase_count(const Comparison& comparison, const Series& series, Index length) {
  PhaseCount count;
  for (const FinishedCell& cell : comparison.cells) {
    if (cell.variant != series.variant) continue;
    const ProbeResult* probe = cell.record.find_probe(series.evaluation, "phase", length);
    if (probe == nullptr || probe->status != "ok") continue;
    const WindowPhase phase = window_phase(
        *probe, cell.record.find(series.evaluation, {Protocol::nonoverlapping, length, length, false}));
    if (!phase.can_tell()) continue;
    ++count.known;
    count.outside += phase.inside() ? 0 : 1;
  }
  return count;
}

ProbeNumber phase_difference_in_bits() {
  return [number = mean_of("delta_nll")](const ProbeResult& result) {
    std::optional<double> bits = number(result);
    if (bits) *bits /= std::numbers::ln2;
    return bits;
  };
}

}  // namespace

ReportTable window_phase_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = table_of_series(comparison, all);
  table.title =
      fmt::format("What windows cut half a window earlier lose more, by length of the window, in bits per {}",
                  token_word(comparison));
  const std::vector<Index> lengths = probe_lengths(comparison, "phase");
  for (const Index length : lengths) table.header.push_back(length_header(length, common_train_length(all)));
  PhaseCount whole;
  for (const Series& series : all) {
    if (lengths.empty()) break;
    std::vector<std::string> row = row_label(series.name, series, all);
    for (const Index length : lengths) {
      const PhaseCount count = phase_count(comparison, series, length);
      row.push_back(
          probe_text(probe_results(comparison, series, "phase", length), phase_difference_in_bits(), 4));
      if (count.outside > 0) row.back() += " (outside)";
      whole.outside += count.outside;
      whole.known += count.known;
    }
    table.rows.push_back(std::move(row));
  }
  table.notes.push_back(
      "The same targets in windows side by side, on a grid that begins half a window earlier. About 0: where "
      "the windows are cut does not matter.");
  if (whole.known > 0) {
    table.notes.push_back(
        fmt::format("{} of {} on the shifted grid lie{} in the 95 % block-bootstrap interval of the "
                    "loss on the grid as it is{}.",
                    whole.known - whole.outside, counted(whole.known, "loss", "losses"),
                    whole.known - whole.outside == 1 ? "s" : "",
                    whole.outside == 0 ? "" : "; \"outside\": that of one seed at least does not"));
  }
  table.notes.push_back(seeds_note(comparison));
  return table;
}

}  // namespace tapeline

#include <fmt/format.h>

#include "experiments/report/context_probes.h"
#include "experiments/report/html_parts.h"
#include "experiments/report/probe_series.h"
#include "experiments/report/sections/section.h"
#include "experiments/report/window_phase_table.h"

namespace tapeline {

Section probe_section(const ReportData& data, FigureSheet& figures) {
  Section section{"context", "Use of context", "What the longer context is used for", {}};
  const Comparison& comparison = data.comparison;
  const std::vector<Series>& all = data.all;
  const std::string unit = token_unit(comparison);
  std::string& body = section.body;
  if (was_probed(comparison, "hard_window")) {
    body +=
        "<h3>With the last keys alone</h3>\n" +
        figures.add(hard_window_figure(comparison, all),
                    fmt::format("Bits per byte in non-overlapping windows over {} targets, with all keys and "
                                "with attention limited to the last L keys, L the trained length.",
                                probe_count_text(comparison, "hard_window", "bits_per_byte"))) +
        html_table(hard_window_table(comparison, all), "hard-window");
  }
  if (was_probed(comparison, "history")) {
    body += "<h3>Loss by history</h3>\n" +
            figures.add(history_figure(comparison, all),
                        fmt::format("The loss of the same {} targets when the model is given their last n {} "
                                    "alone, in the longest windows that were probed.",
                                    probe_count_text(comparison, "history", "nll"), unit)) +
            html_table(effective_context_table(comparison, all), "effective-context");
  }
  if (was_probed(comparison, "shuffle")) {
    body += "<h3>Shuffled history</h3>\n" +
            figures.add(shuffle_figure(comparison, all),
                        fmt::format("How much the loss of the same {} targets rises when all but their last "
                                    "{} stand in random order. A curve near 0: farther back the order is of "
                                    "no use.",
                                    probe_count_text(comparison, "shuffle", "delta_nll"), unit));
  }
  if (was_probed(comparison, "in_context")) {
    body += "<h3>In-context score</h3>\n" + html_table(in_context_table(comparison, all), "in-context");
  }
  if (was_probed(comparison, "phase"))
    body += "<h3>Where windows are cut</h3>\n" + html_table(window_phase_table(comparison, all), "phase");
  return section;
}

}  // namespace tapeline

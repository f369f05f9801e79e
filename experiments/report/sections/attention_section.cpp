#include <fmt/format.h>

#include "experiments/report/attention_internals.h"
#include "experiments/report/html_parts.h"
#include "experiments/report/probe_series.h"
#include "experiments/report/sections/section.h"

namespace tapeline {

Section attention_section(const ReportData& data, FigureSheet& figures) {
  Section section{"attention", "Attention", "Where attention looks", {}};
  const Comparison& comparison = data.comparison;
  if (!was_probed(comparison, "attention")) return section;
  const std::string rows = probe_count_text(comparison, "attention", "normalized_entropy");
  section.body =
      figures.add(
          attention_entropy_figure(comparison, data.all),
          fmt::format(
              "Entropy of attention over the logarithm of the number of keys that a row sees: 0 where "
              "all of it goes to one key, 1 where it goes to all alike. Means over {} rows, layers, "
              "heads and seeds.",
              rows)) +
      figures.add(
          attention_distance_figure(comparison, data.all),
          fmt::format("How many {} back attention looks on average. Means over {} rows, layers, heads "
                      "and seeds; both axes are logarithmic.",
                      token_unit(comparison), rows)) +
      html_table(attention_table(comparison, data.all), "attention-table");
  std::string layers;
  int number = 0;
  for (const ReportTable& table : attention_layer_tables(comparison, data.all))
    layers += html_table(table, fmt::format("attention-layers-{}", ++number));
  if (!layers.empty()) section.body += html_folded("Layer by layer", layers);
  return section;
}

}  // namespace tapeline

#include <fmt/format.h>

#include "experiments/report/figures.h"
#include "experiments/report/html_parts.h"
#include "experiments/report/sections/section.h"

namespace tapeline {

Section position_section(const ReportData& data, FigureSheet& figures) {
  const Comparison& comparison = data.comparison;
  Section section{"position", "Position", "Loss by position", {}};
  if (table_lengths(data.all).empty()) return section;
  const Figure figure = loss_by_position(comparison, data.all);
  section.body = figures.add(
      figure,
      fmt::format(
          "Loss at each position of the longest window that an encoding can be evaluated at (shorter "
          "ones are named; other targets stand at their positions, so compare the heights of curves "
          "of the same windows only), {} scored {} a model in all; means over positions 1, 2, 3–4, "
          "5–8 and so on{}. A window has one target at each position, so the first points are means of few "
          "targets.",
          number_text(comparison.scored_tokens), token_unit(comparison),
          comparison.config.compare.seeds > 1 ? " and over seeds" : "") +
          (figure.mark > 0 ? " Right of the mark no position was seen in training."
                           : " Positions past a model's own trained length were not seen in training."));
  if (has_points(figure)) {
    section.body += html_folded("The numbers of this figure",
                                html_table(position_table(comparison, data.all), "positions"));
  }
  return section;
}

}  // namespace tapeline

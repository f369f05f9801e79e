#include "experiments/report/figure_sheet.h"

#include <fmt/format.h>

#include "core/files.h"
#include "experiments/report/figure_script.h"
#include "experiments/report/gnuplot.h"
#include "experiments/report/html.h"
#include "experiments/report/html_parts.h"
#include "experiments/report/inline_svg.h"
#include "train/signals.h"

namespace tapeline {
namespace {

/// The names of the curves in their colours, for screens so narrow that those in the drawing are out of
/// sight.
std::string narrow_legend(const Figure& figure) {
  if (!figure_panels(figure).empty()) return {};
  std::string names;
  for (const std::size_t number : by_right_ends(figure)) {
    names += fmt::format("<span style=\"--curve:var(--curve{})\">{}</span>\n", number,
                         html_escape(figure.curves[number].name));
  }
  return fmt::format("<p class=\"legend\" aria-hidden=\"true\">{}</p>\n", names);
}

}  // namespace

std::string FigureSheet::add(const Figure& figure, std::string_view caption) {
  stop_if_signalled();
  if (!has_points(figure)) return {};
  if (!missing_.empty()) {
    std::filesystem::create_directories(folder_);
    write_file(folder_ / (figure.name + ".csv"), figure_csv(figure));
    return {};
  }
  try {
    draw_figure(figure, folder_);
  } catch (const GnuplotError& error) {
    missing_ = error.what();
    return html_note("No figures: " + missing_);
  }
  drawn_.push_back(folder_ / (figure.name + ".svg"));
  return fmt::format(
      "<figure>\n<div class=\"drawing\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"{}\"><div>{}</div></div>\n"
      "{}<figcaption>{}</figcaption>\n</figure>\n",
      html_escape("Figure: " + figure.title), inline_svg(read_file(drawn_.back()), figure),
      narrow_legend(figure), html_escape(caption));
}

}  // namespace tapeline

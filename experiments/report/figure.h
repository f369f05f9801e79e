#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace tapeline {

/// A point of a curve; a half-width draws an interval around it.
struct FigurePoint {
  double x = 0, y = 0;
  double half_width = std::numeric_limits<double>::quiet_NaN();
};

struct Curve {
  std::string name;
  std::vector<FigurePoint> points;
};

/// A place on the x axis that is labelled, with a second line below.
struct Tick {
  double at = 0;
  std::string label, below;
};

/// A line chart over a logarithmic axis of lengths or positions.
struct Figure {
  std::string name;  ///< of the files: "loss_by_length"
  std::string title, x_label, y_label;
  std::string alternative;  ///< what the picture shows, for those who do not see it
  double x_first = 1, x_last = 2;
  std::vector<Tick> ticks;
  double mark = 0;  ///< a vertical line: the trained length; 0: none
  std::string mark_label;
  std::vector<Curve> curves;  ///< a curve has the same colour and symbol in every figure of a report
};

/// Whether any point has an interval to draw.
bool has_intervals(const Figure& figure);

/// The data of a figure: curve,x,y,half_width.
std::string figure_csv(const Figure& figure);

/// Writes `folder`/<name>.csv, and by gnuplot <name>.svg and <name>.png. Throws FileError; the CSV is there
/// all the same when gnuplot is missing.
void draw_figure(const Figure& figure, const std::filesystem::path& folder);

/// The drawing for inside a page: no declaration, no namespace, no outside reference; colours are the page's
/// (--ink, --soft, --grid, --curve0, ...), so that it follows light and dark; ids are unique to `figure`.
std::string inline_svg(const std::string& svg, const Figure& figure);

/// The colours of the curves on light and on dark ground, told apart by colour-blind eyes (after Okabe and
/// Ito 2008); each curve has its own symbol as well.
struct CurveColour {
  const char* light;
  const char* dark;
};
const std::vector<CurveColour>& curve_colours();

}  // namespace tapeline

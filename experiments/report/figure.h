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
  std::string panel = {};  ///< the small chart that it stands in, by its title; empty: see Figure
};

/// A place on the x axis that is labelled, with a second line below.
struct Tick {
  double at = 0;
  std::string label, below;
};

/// A line chart over a logarithmic axis of lengths or positions. Curves that name panels stand in small
/// charts side by side, one a panel, all on the same axes. Curves that name none stand in one chart; when
/// there are more of them than colours, each has a small chart of its own, with the others behind it in grey.
struct Figure {
  std::string name;  ///< of the files: "loss_by_length"
  std::string title, x_label, y_label;
  std::string below_label;  ///< what the second lines of the ticks are; small charts have none of either
  std::string alternative;  ///< what the picture shows, for those who do not see it
  double x_first = 1, x_last = 2;
  std::vector<Tick> ticks;
  double mark = 0;  ///< a vertical line: the trained length; 0: none
  std::string mark_label;
  bool y_logarithmic = false;  ///< only for values above 0
  std::vector<Curve> curves;   ///< a curve has the same colour and symbol in every figure of a report
};

/// Whether any point has an interval to draw.
bool has_intervals(const Figure& figure);
/// Whether anything can be drawn: a point whose value is a number.
bool has_points(const Figure& figure);

/// How a curve is called outside its chart: with its panel, when it stands in one ("rope, sliding").
std::string full_name(const Curve& curve);

/// The data of a figure: curve,x,y,half_width.
std::string figure_csv(const Figure& figure);

/// Writes `folder`/<name>.csv, and by gnuplot <name>.svg and <name>.png. Throws FileError; the CSV is there
/// all the same when gnuplot is missing.
void draw_figure(const Figure& figure, const std::filesystem::path& folder);

/// The colours of the curves on light and on dark ground, told apart by colour-blind eyes (after Okabe and
/// Ito 2008); each curve has its own symbol as well.
struct CurveColour {
  const char* light;
  const char* dark;
};
const std::vector<CurveColour>& curve_colours();

}  // namespace tapeline

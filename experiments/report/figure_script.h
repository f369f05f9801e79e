#pragma once

#include <string>
#include <vector>

#include "experiments/report/figure.h"

namespace tapeline {

/// A figure in gnuplot's words, all but the terminal, and the size of the drawing in units of its own.
struct FigureScript {
  std::string commands;
  int width = 860, height = 440;
  int font = 14;  ///< units
};
FigureScript figure_script(const Figure& figure);

/// One small chart of a figure.
struct FigurePanel {
  std::string title;
  std::vector<std::size_t> curves;  ///< numbers of those drawn in colour
  bool others_behind = false;       ///< all other curves in grey
};

/// The small charts that a figure is drawn as; none: it is one chart.
std::vector<FigurePanel> figure_panels(const Figure& figure);

// Shared by the one chart and the small ones.

/// Colours of the page as they stand in a script; inline_svg() turns each into the page's own.
inline constexpr const char* figure_ink = "#222222";
inline constexpr const char* figure_soft = "#666666";
inline constexpr const char* figure_grid = "#dddddd";
inline constexpr const char* figure_behind = "#c9c9c9";  ///< of curves behind another one

/// Every curve as a data block $curve<number> of x, y and half-width.
std::string curve_data(const Figure& figure);
/// Colour, width, and symbol of the curve that is `number` in its chart.
std::string curve_style(std::size_t number);
std::string curve_colour(std::size_t number);
/// Ranges and lines, and the ticks of the y axis with or without their numbers.
struct FigureAxes {
  std::string commands, y_numbers, y_bare;
};
/// `headroom`: steps of the y axis left free above the curves.
FigureAxes figure_axes(const Figure& figure, double headroom);
/// The numbers of the curves with points, in the order of their right ends, highest first.
std::vector<std::size_t> by_right_ends(const Figure& figure);
/// What draws a curve with its intervals, moved sideways by a factor on x: two parts of a plot command.
std::string curve_plot(const Figure& figure, std::size_t number, std::size_t style, double sideways,
                       const std::string& title);
/// A factor on x that moves curve `place` of `count` a little, so that intervals at one length stand side by
/// side; 1 for a figure without intervals.
double sideways_factor(const Figure& figure, std::size_t place, std::size_t count);

}  // namespace tapeline

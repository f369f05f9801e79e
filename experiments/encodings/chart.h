#pragma once

#include <filesystem>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tapeline {

enum class ChartSymbol { none, filled, open };

/// Points of a chart, joined or not.
struct ChartLine {
  std::string name;  ///< empty: not in the legend
  std::vector<double> x, y;
  std::size_t colour = 0;  ///< of curve_colours()
  bool joined = true, dashed = false;
  ChartSymbol symbol = ChartSymbol::none;
};

/// Numbers over a plane of rows and columns, in colours.
struct ChartHeat {
  std::vector<double> rows, columns;        ///< what each row and column stands for, ascending
  std::vector<std::vector<double>> values;  ///< [rows][columns]
  std::string label;                        ///< of the numbers; empty: they are yes and no
};

/// One drawing: lines, or a plane of numbers.
struct Chart {
  std::string name;   ///< of the files: "alibi_bias"
  std::string title;  ///< of the drawing, and what it shows
  std::string x_label, y_label;
  bool log_x = false, log_y = false;
  double mark_x = std::numeric_limits<double>::quiet_NaN();  ///< a vertical line; NaN: none
  double mark_y = std::numeric_limits<double>::quiet_NaN();  ///< a horizontal one
  std::string mark_label;                                    ///< of both
  std::vector<ChartLine> lines;
  ChartHeat heat;
  std::vector<std::string> notes;  ///< sentences below the drawing in the terminal
  std::string table;               ///< in the terminal in place of the lines, where numbers say more
};

/// The numbers: line,x,y or row,column,value.
std::string chart_csv(const Chart& chart);
/// The same for programs, with title, labels and notes.
nlohmann::ordered_json chart_json(const Chart& chart);

/// Writes `folder`/<name>.csv. Throws FileError.
void write_chart_csv(const Chart& chart, const std::filesystem::path& folder);
/// The same, and by gnuplot <name>.svg and <name>.png; returns the paths. Throws FileError, and
/// GnuplotError when gnuplot is missing: the CSV is there all the same.
std::vector<std::filesystem::path> draw_chart(const Chart& chart, const std::filesystem::path& folder);

/// The chart in `width` columns of text.
std::string chart_text(const Chart& chart, std::size_t width);

}  // namespace tapeline

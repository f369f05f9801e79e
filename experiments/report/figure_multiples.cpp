#include "experiments/report/figure_multiples.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/report/gnuplot.h"
#include "experiments/table.h"

namespace tapeline {
namespace {

/// Where the small charts stand, in units of the drawing.
struct PanelGrid {
  std::size_t columns = 1, rows = 1;
  int chart_height = 165;
  // Around all charts: the numbers of the y axis with its label, a last label's half; the colours with the
  // first titles; the numbers of the x axis with its label. Between them: room for a title.
  int left = 74, right = 26, top = 62, bottom = 58, across = 22, down = 30;
  int width = 860;
  int height() const {
    return top + bottom + static_cast<int>(rows) * chart_height + static_cast<int>(rows - 1) * down;
  }
};

PanelGrid panel_grid(std::size_t count) {
  PanelGrid grid;
  grid.columns = count <= 3 ? count : count == 4 ? 2 : count <= 6 ? 3 : 4;
  grid.rows = (count + grid.columns - 1) / grid.columns;
  grid.chart_height = grid.columns <= 2 ? 220 : grid.columns == 3 ? 170 : 110;
  return grid;
}

/// Labels for at most five ticks, the last one among them: a small chart has no room for more.
std::string few_ticks(const std::vector<Tick>& ticks, bool labelled) {
  const std::size_t every = std::max<std::size_t>(1, (ticks.size() + 4) / 5);
  std::string text;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const bool label = labelled && (ticks.size() - 1 - i) % every == 0;
    text += fmt::format("{}\"{}\" {}", text.empty() ? "" : ", ", label ? ticks[i].label : std::string(),
                        ticks[i].at);
  }
  return text;
}

/// The names that a colour has in the small charts, in the order of the first that has all.
std::vector<std::string> colour_names(const Figure& figure, const std::vector<FigurePanel>& panels) {
  std::vector<std::string> names;
  for (const FigurePanel& panel : panels) {
    for (const std::size_t number : panel.curves) {
      const std::string& name = figure.curves[number].name;
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// The line above all charts, what each colour and the dashed line are, and the names of both axes: labels
/// of the whole drawing.
std::vector<std::string> whole_labels(const Figure& figure, const std::vector<std::string>& names,
                                      bool others_behind, const PanelGrid& grid) {
  std::vector<std::string> labels;
  const double width = grid.width, height = grid.height();
  double x = grid.left;
  const auto put = [&](const std::string& words, const char* colour, const std::string& point) {
    labels.push_back(fmt::format("{} at screen {},{} left noenhanced textcolor rgb '{}'{}",
                                 gnuplot_quoted(words), (x + (point.empty() ? 0 : 5)) / width,
                                 1 - 16 / height, colour, point));
    x += (point.empty() ? 0 : 14) + 6.9 * static_cast<double>(display_width(words)) + 26;
  };
  if (others_behind) {
    put("grey: all the others", figure_soft, "");
  } else {
    for (std::size_t i = 0; i < names.size(); ++i)
      put(names[i], figure_ink, fmt::format(" point {} offset 1,-0.35", curve_style(i)));
  }
  if (figure.mark > 0) put("dashed line: " + figure.mark_label, figure_soft, "");
  labels.push_back(fmt::format("{} at screen 0.5,{} center noenhanced textcolor rgb '{}'",
                               gnuplot_quoted(figure.x_label), 14 / height, figure_ink));
  labels.push_back(fmt::format("{} at screen {},{} center rotate noenhanced textcolor rgb '{}'",
                               gnuplot_quoted(figure.y_label), 12 / width,
                               (grid.bottom + (height - grid.bottom - grid.top) / 2) / height, figure_ink));
  return labels;
}

std::string behind_data(const Figure& figure) {
  std::string text = "$behind << END\n";
  for (const Curve& curve : figure.curves) {
    for (const FigurePoint& point : curve.points) text += fmt::format("{} {}\n", point.x, point.y);
    text += '\n';
  }
  return text + "END\n";
}

std::string panel_plot(const Figure& figure, const FigurePanel& panel,
                       const std::vector<std::string>& names) {
  std::string plots;
  if (panel.others_behind)
    plots = fmt::format("plot $behind with lines lc rgb '{}' lw 1 notitle", figure_behind);
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    const std::size_t number = panel.curves[i];
    // With the others behind there is one colour; else it tells the name.
    const auto place = std::ranges::find(names, figure.curves[number].name) - names.begin();
    const std::size_t style = panel.others_behind ? 0 : static_cast<std::size_t>(place);
    plots += plots.empty() ? "plot " : ", \\\n  ";
    plots += curve_plot(figure, number, style, sideways_factor(figure, i, panel.curves.size()), "");
  }
  return plots + '\n';
}

}  // namespace

std::vector<FigurePanel> figure_panels(const Figure& figure) {
  std::vector<FigurePanel> panels;
  const auto drawn = static_cast<std::size_t>(
      std::ranges::count_if(figure.curves, [](const Curve& curve) { return !curve.points.empty(); }));
  if (std::ranges::any_of(figure.curves, [](const Curve& curve) { return !curve.panel.empty(); })) {
    for (std::size_t i = 0; i < figure.curves.size(); ++i) {
      const Curve& curve = figure.curves[i];
      if (curve.points.empty()) continue;
      auto place = std::ranges::find(panels, curve.panel, &FigurePanel::title);
      if (place == panels.end()) place = panels.insert(panels.end(), {curve.panel, {}, false});
      place->curves.push_back(i);
    }
  } else if (drawn > curve_colours().size()) {
    std::vector<std::size_t> order = by_right_ends(figure);  // the lowest first: the picture is a ranking
    std::ranges::reverse(order);
    // Curves that end early come behind those that go all the way.
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return figure.curves[a].points.back().x > figure.curves[b].points.back().x;
    });
    for (const std::size_t i : order) panels.push_back({figure.curves[i].name, {i}, true});
  }
  return panels;
}

FigureScript small_multiples(const Figure& figure, const std::vector<FigurePanel>& panels) {
  const PanelGrid grid = panel_grid(panels.size());
  const std::vector<std::string> names = colour_names(figure, panels);
  const bool others_behind = panels.front().others_behind;
  FigureScript script;
  script.width = grid.width;
  script.height = grid.height();
  script.font = 12;
  std::string& text = script.commands;
  const FigureAxes axes = figure_axes(figure, 0.1);
  text = curve_data(figure) + (others_behind ? behind_data(figure) : std::string()) + axes.commands +
         "unset key\n";
  const double width = grid.width, height = grid.height();
  text +=
      fmt::format("set multiplot layout {},{} rowsfirst margins screen {},{},{},{} spacing screen {},{}\n",
                  grid.rows, grid.columns, grid.left / width, 1 - grid.right / width, grid.bottom / height,
                  1 - grid.top / height, grid.across / width, grid.down / height);
  if (figure.mark > 0) text += gnuplot_mark(figure.mark, figure_soft);
  const std::vector<std::string> labels = whole_labels(figure, names, others_behind, grid);
  for (std::size_t i = 0; i < labels.size(); ++i) text += fmt::format("set label {} {}\n", i + 2, labels[i]);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const bool lowest = i + grid.columns >= panels.size(), first = i % grid.columns == 0;
    // Numbers stand beside the first column and below the last chart of each only.
    text += fmt::format("set xtics ({})\n", few_ticks(figure.ticks, lowest));
    text += first ? axes.y_numbers : axes.y_bare;
    text +=
        fmt::format("set label 1 {} at graph 0, graph 1 left offset 0,0.7 noenhanced textcolor rgb '{}'\n",
                    gnuplot_quoted(panels[i].title), figure_ink);
    text += panel_plot(figure, panels[i], names);
    for (std::size_t label = 0; i == 0 && label < labels.size(); ++label)
      text += fmt::format("unset label {}\n", label + 2);
  }
  text += "unset multiplot\nunset output\n";
  return script;
}

}  // namespace tapeline

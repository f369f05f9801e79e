#include "experiments/report/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/report/tables.h"

namespace tapeline {
namespace {

std::string times_text(double at, Index train_length) {
  if (train_length == 0) return {};
  return fmt::format("{}×", std::round(100 * at / static_cast<double>(train_length)) / 100);
}

}  // namespace

std::string curve_name(const Series& series, const std::vector<Series>& all) {
  return common_train_length(all) != 0
             ? series.name
             : fmt::format("{} (trained at {})", series.name, number_text(series.train_length));
}

void set_trained_mark(Figure& figure, const std::vector<Series>& all) {
  const Index length = common_train_length(all);
  if (length == 0) return;
  figure.mark = static_cast<double>(length);
  figure.mark_label = fmt::format("trained length {}", number_text(length));
}

void set_length_axis(Figure& figure, const Comparison& comparison, const std::vector<Series>& all) {
  const Index trained = common_train_length(all);
  figure.x_label = fmt::format("length of the evaluated window in {}", token_unit(comparison));
  figure.below_label = "times the trained length";
  std::set<double> lengths;
  for (const Curve& curve : figure.curves) {
    for (const FigurePoint& point : curve.points) lengths.insert(point.x);
  }
  for (const double length : lengths)
    figure.ticks.push_back({length, number_text(std::llround(length)), times_text(length, trained)});
  if (!lengths.empty()) {
    figure.x_first = *lengths.begin();
    figure.x_last = std::max(*lengths.rbegin(), figure.x_first + 1);
  }
  set_trained_mark(figure, all);
}

std::string finding_text(const Figure& figure, int digits) {
  double end = 0;
  for (const Curve& curve : figure.curves) {
    for (const FigurePoint& point : curve.points) end = std::max(end, point.x);
  }
  const Curve *lowest = nullptr, *highest = nullptr;
  for (const Curve& curve : figure.curves) {
    if (curve.points.empty() || curve.points.back().x != end) continue;
    if (lowest == nullptr || curve.points.back().y < lowest->points.back().y) lowest = &curve;
    if (highest == nullptr || curve.points.back().y > highest->points.back().y) highest = &curve;
  }
  if (lowest == nullptr) return {};
  const std::string at = number_text(std::llround(end));
  if (lowest == highest) {
    return fmt::format(" At {} there is only {}, with {:.{}f}.", at, full_name(*lowest),
                       lowest->points.back().y, digits);
  }
  return fmt::format(" At {} {} is lowest with {:.{}f}, {} highest with {:.{}f}.", at, full_name(*lowest),
                     lowest->points.back().y, digits, full_name(*highest), highest->points.back().y, digits);
}

std::string ends_text(const Figure& figure, int digits) {
  if (figure.curves.size() > curve_colours().size()) return {};
  std::string text;
  for (const Curve& curve : figure.curves) {
    if (curve.points.empty()) continue;
    const FigurePoint &first = curve.points.front(), &last = curve.points.back();
    text += fmt::format("{} {} {:.{}f} at {}", text.empty() ? "" : ";", full_name(curve), first.y, digits,
                        number_text(std::llround(first.x)));
    if (curve.points.size() > 1)
      text += fmt::format(", {:.{}f} at {}", last.y, digits, number_text(std::llround(last.x)));
  }
  return text.empty() ? text : text + '.';
}

}  // namespace tapeline

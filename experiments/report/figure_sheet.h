#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/report/figure.h"

namespace tapeline {

/// The figures of one page: draws each into the folder and gives it back for the page. Once gnuplot could not
/// draw one, the page has that note once and no further drawing is tried; the data of all are written.
class FigureSheet {
 public:
  /// `folder`: where the files go, report/figures.
  explicit FigureSheet(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The figure as HTML with `caption` (text) below it; empty for one without points.
  std::string add(const Figure& figure, std::string_view caption);

  /// Why there are no figures; empty when there are.
  const std::string& missing() const { return missing_; }
  /// The SVG of every figure that was drawn.
  const std::vector<std::filesystem::path>& drawn() const { return drawn_; }

 private:
  std::filesystem::path folder_;
  std::string missing_;
  std::vector<std::filesystem::path> drawn_;
};

}  // namespace tapeline

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/criteria/criterion.h"

namespace tapeline {

/// Where the report stands, and what could not be drawn.
struct ReportOutcome {
  std::filesystem::path page;
  std::string figures_missing;                      ///< why there are no figures; empty when there are
  std::vector<std::filesystem::path> figures = {};  ///< the SVG of each
  std::vector<CriterionResult> criteria = {};       ///< as the page tells them
};

/// Judges the criteria and writes `folder`/report.html, one file that needs nothing else, and
/// `folder`/figures. Without gnuplot the page has its tables all the same and says what to install.
ReportOutcome write_report(const Comparison& comparison, const std::filesystem::path& folder);

/// What the terminal shows of a comparison: the answer and the tables of bits per byte.
std::string terminal_report(const Comparison& comparison);

}  // namespace tapeline

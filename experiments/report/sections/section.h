#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"
#include "experiments/criteria/criterion.h"
#include "experiments/report/figure_sheet.h"

namespace tapeline {

/// What every part of the page is made from.
struct ReportData {
  const Comparison& comparison;
  std::vector<ResultRow> rows;
  std::vector<Series> all;
  std::vector<CriterionResult> criteria;
  std::filesystem::path folder = {};  ///< where the page stands
};

/// One part of the page under a heading of its own. Without `body` it has nothing to tell, and is left out of
/// the page and of its line of contents.
struct Section {
  std::string id;       ///< of the heading
  std::string name;     ///< in the line of contents, a word or two
  std::string heading;  ///< text
  std::string body;     ///< HTML
};

/// What each encoding is, where it acts, its paper.
Section encodings_section(const ReportData& data);
/// What the models differ in, where their names do not say it.
Section variants_section(const ReportData& data);
/// Loss and ratio of perplexities by length; the figure of it stands beside the answer.
Section length_section(const ReportData& data);
/// Loss along the longest windows.
Section position_section(const ReportData& data, FigureSheet& figures);
/// How much of the gain with length is only a smaller share of targets without history.
Section early_token_section(const ReportData& data, FigureSheet& figures);
/// The criteria that were declared before the run, and what became of them.
Section verdict_section(const ReportData& data);
/// How widely and how far attention looks.
Section attention_section(const ReportData& data, FigureSheet& figures);
/// What the longer context is used for: the other probes, as far as they were measured.
Section probe_section(const ReportData& data, FigureSheet& figures);
/// Time, speed and work.
Section cost_section(const ReportData& data);
/// What came of the learning rates that were tried.
Section sweep_section(const ReportData& data);
/// How it was measured.
Section method_section(const ReportData& data);
/// The command and the whole configuration.
Section reproduction_section(const ReportData& data);

}  // namespace tapeline

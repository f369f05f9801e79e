#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/report/report.h"

namespace tapeline {

/// What a comparison, or several folders of one put together, ends with.
struct Conclusion {
  ReportOutcome report;
  std::string claims;  ///< the text of claims.json
};

/// Writes report.html, its figures and claims.json into `folder`. Figures that could not be drawn are warned
/// of. A signal within a SignalGuard: says what is kept, then throws Stopped.
Conclusion conclude(const Comparison& comparison, const std::filesystem::path& folder);

/// For people: tables, verdicts, and where the report is.
std::string conclusion_text(const Comparison& comparison, const Conclusion& conclusion);

/// Warns of primary criteria that --check will not see, as they are not among those that are judged.
void warn_of_unjudged(const CompareConfig& config);

/// What --check says: the exit code, and on standard error which primary criteria fail and which are open.
/// `command`: whose --check it is, for the message.
int check_criteria(const std::vector<CriterionResult>& criteria, std::string_view command);

/// A paragraph of a command's help on the criteria.
extern const char* const criteria_help;

}  // namespace tapeline

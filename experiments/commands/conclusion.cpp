#include "experiments/commands/conclusion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/files.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/table.h"
#include "train/signals.h"

namespace tapeline {

Conclusion conclude(const Comparison& comparison, const std::filesystem::path& folder) try {
  ReportOutcome report = write_report(comparison, folder);
  if (!report.figures_missing.empty()) spdlog::warn("{}", report.figures_missing);
  std::string claims = criteria_json(report.criteria);
  write_file(folder / "claims.json", claims);
  return {std::move(report), std::move(claims)};
} catch (const Stopped&) {
  tell_stopped("report",
               "every result is kept, and what was drawn stays until the same command draws it anew");
  throw;
}

std::string conclusion_text(const Comparison& comparison, const Conclusion& conclusion) {
  const std::string verdicts = criteria_text(conclusion.report.criteria, terminal_width());
  return fmt::format("{}{}{}\nreport: {}\n", terminal_report(comparison), verdicts.empty() ? "" : "\n",
                     verdicts, conclusion.report.page.string());
}

void warn_of_unjudged(const CompareConfig& config) {
  std::vector<std::string> unjudged;
  for (const std::string& id : config.primary) {
    if (std::ranges::find(config.claims, id) == config.claims.end()) unjudged.push_back(id);
  }
  if (!unjudged.empty())
    spdlog::warn("--check: compare.primary names {}, compare.claims does not: not judged",
                 fmt::join(unjudged, ", "));
}

int check_criteria(const std::vector<CriterionResult>& criteria, std::string_view command) {
  bool failed = false, looked = false;
  for (const CriterionResult& result : criteria) {
    if (!result.primary) continue;
    looked = true;
    const std::string why = result.reason.empty() ? std::string() : fmt::format(" ({})", result.reason);
    if (result.verdict == Verdict::fails) {
      failed = true;
      write_error(fmt::format("{} --check: {} fails: asked {}, found {}{}", command, result.id,
                              result.threshold, result.figure, why));
    } else if (result.verdict != Verdict::holds) {
      spdlog::warn("--check: {} is {}, which is no failure{}", result.id, verdict_text(result.verdict), why);
    }
  }
  if (!looked)
    spdlog::warn(
        "--check: compare.primary names none of the criteria that are judged (compare.claims): nothing is "
        "checked");
  return failed ? exit_code::unmet : exit_code::done;
}

const char* const criteria_help =
    "At the end the criteria that compare.claims names, C1 to C12, are judged: claims about none but the "
    "named encodings with their default settings, by a frozen set of thresholds (compare.thresholds, which a "
    "preset chooses). A criterion holds when the whole 95 % interval over seeds, paired, meets the "
    "threshold, fails when none of it does, and is inconclusive otherwise, also with one seed, which has no "
    "interval. Beside it stands the interval of a block bootstrap over the scored text. Diverged seeds are "
    "named and left out. With --check the exit status is 4 when a primary criterion fails, one that "
    "compare.primary names: by default C1, C2, C4 and C5, in preset smoke none.";

}  // namespace tapeline

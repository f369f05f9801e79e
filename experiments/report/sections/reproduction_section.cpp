#include <fmt/format.h>

#include "experiments/report/html.h"
#include "experiments/report/html_parts.h"
#include "experiments/report/sections/section.h"
#include "train/config_loader.h"

namespace tapeline {

Section reproduction_section(const ReportData& data) {
  const Comparison& comparison = data.comparison;
  std::string body =
      html_copyable(comparison.command, "The command") +
      html_note(
          fmt::format("The same command with the same number of threads gives the same results.csv, speeds "
                      "excepted. The configuration below, saved as compare.toml, does the same as tapeline "
                      "compare compare.toml. Text: {}, SHA-256 of its tokens {}.",
                      comparison.text_source, comparison.text_digest));
  body += html_folded("All settings",
                      html_copyable(resolved_text(comparison.config), "All settings, a TOML file"));
  body += html_note(
      "Beside this page: results.csv (every number), positions.csv (loss by position), probes.csv (what else "
      "was measured), claims.json (the verdicts), figures/ (each figure "
      "as SVG and PNG, its data as CSV), config.toml. tapeline report makes this page again.");
  return {"reproduce", "Reproduce", "How to reproduce", std::move(body)};
}

}  // namespace tapeline

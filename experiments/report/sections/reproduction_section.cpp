#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/command_line/as_typed.h"
#include "experiments/report/html.h"
#include "experiments/report/html_parts.h"
#include "experiments/report/sections/section.h"
#include "train/config_loader.h"

namespace tapeline {
namespace {

/// Seeds that stand one after the other, as one command trains them.
struct SeedRun {
  std::uint64_t first = 0;
  Index count = 0;
};

std::vector<SeedRun> seed_runs(const std::vector<std::uint64_t>& seeds) {
  std::vector<SeedRun> runs;
  for (const std::uint64_t seed : seeds) {
    if (runs.empty() || seed != runs.back().first + static_cast<std::uint64_t>(runs.back().count))
      runs.push_back({seed, 0});
    ++runs.back().count;
  }
  return runs;
}

/// What makes the same of the configuration, saved as compare.toml, where the seeds have gaps: a command for
/// each run of them, and one that puts the folders together.
std::string commands_for_gaps(const std::vector<SeedRun>& runs) {
  std::string commands, folders;
  for (const SeedRun& run : runs) {
    commands += fmt::format("tapeline compare compare.toml --seed {0} --seeds {1} --out seeds-{0}\n",
                            run.first, run.count);
    folders += fmt::format(" seeds-{}", run.first);
  }
  return fmt::format("{}tapeline report{} --out together", commands, folders);
}

/// What else came of the comparison, and how the page is made again.
std::string files_text(const ReportData& data) {
  const Comparison& comparison = data.comparison;
  std::string text = fmt::format(
      "Beside this page: results.csv (every number), positions.csv (loss by position), probes.csv (what else "
      "was measured), {}claims.json (the verdicts), figures/ (each figure as SVG and PNG, its data as CSV).",
      comparison.sweep.empty() ? "" : "sweep.csv (the learning rates that were tried), ");
  if (comparison.folders.empty()) {
    return text +
           " The folder that tapeline compare made also holds config.toml and cells/ (every model); tapeline "
           "report makes this page again from it.";
  }
  std::vector<std::string> folders;
  for (const std::string& folder : comparison.folders) folders.push_back(shell_quoted(folder));
  return text +
         fmt::format(
             " The models and their configuration stay in the folders that were put together; this makes "
             "the page again: tapeline report {} --out {}",
             fmt::join(folders, " "), shell_quoted(data.folder.string()));
}

}  // namespace

Section reproduction_section(const ReportData& data) {
  const Comparison& comparison = data.comparison;
  const bool several = comparison.folders.size() > 1;
  const std::vector<SeedRun> runs = seed_runs(planned_seeds(comparison));
  const bool gaps = runs.size() > 1;
  std::string body =
      html_copyable(comparison.command, several ? "The commands" : "The command") +
      html_note(fmt::format(
          "The same command{} with the same number of threads give{} the same results.csv, speeds excepted. "
          "The configuration below, saved as compare.toml, does the same{} Text: {}, SHA-256 of its tokens "
          "{}.",
          several ? "s" : "", several ? "" : "s",
          gaps ? " with the commands under this." : " as tapeline compare compare.toml.",
          comparison.text_source, comparison.text_digest));
  if (gaps) body += html_copyable(commands_for_gaps(runs), "The commands with compare.toml");
  body += html_folded("All settings",
                      html_copyable(resolved_text(comparison.config), "All settings, a TOML file"));
  return {"reproduce", "Reproduce", "How to reproduce", body + html_note(files_text(data))};
}

}  // namespace tapeline

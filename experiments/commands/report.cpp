#include "experiments/commands/report.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "experiments/commands/common.h"
#include "experiments/commands/conclusion.h"
#include "experiments/compare/stored.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/report/answer.h"
#include "experiments/report/html.h"
#include "experiments/report/missing_cells.h"
#include "experiments/report/open_page.h"
#include "experiments/report/report.h"
#include "train/signals.h"

namespace tapeline {
namespace {

namespace fs = std::filesystem;

struct ReportCommand {
  std::vector<std::string> folders;
  std::string out;
  bool open = false, check = false;
  OutputOptions output;
};

bool same_folder(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

/// Whether `folder` holds a page that this command, or compare, wrote.
bool holds_report(const fs::path& folder) {
  const fs::path page = folder / "report.html";
  std::error_code error;
  return fs::is_regular_file(page, error) &&
         read_file(page).substr(0, 1000).find(page_origin) != std::string::npos;
}

/// Throws ConfigError for a folder in which the report would replace what is not one of ours.
void check_out(const fs::path& out, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    require<ConfigError>(folders.size() == 1 || !same_folder(out, folder),
                         "report: --out \"{}\" is one of the folders that are put together; the tables in it "
                         "would be replaced; give another",
                         out.string());
    if (same_folder(out, folder)) return;
  }
  require<ConfigError>(!fs::exists(out) || fs::is_directory(out),
                       "report: --out \"{}\" is no folder; give another place", out.string());
  require<ConfigError>(
      !fs::exists(out / "config.toml"),
      "report: --out \"{}\" holds a run or comparison of its own (config.toml); give another folder",
      out.string());
  if (holds_report(out)) return;
  for (const char* name : comparison_outputs) {
    require<ConfigError>(!fs::exists(out / name),
                         "report: --out \"{}\" has a \"{}\" that no report of tapeline stands beside; give "
                         "another folder, or move it away",
                         out.string(), name);
  }
}

/// Where the report goes: of one folder into it, else where --out says.
fs::path report_folder(const ReportCommand& command, const std::vector<fs::path>& folders) {
  require<ConfigError>(!command.out.empty() || folders.size() == 1,
                       "report: {} folders are put together, and none of them is the place for the whole; "
                       "say where with --out DIR",
                       folders.size());
  if (command.out.empty()) return folders.front();
  check_out(command.out, folders);
  return command.out;
}

std::string json_text(const Comparison& comparison, const Conclusion& conclusion,
                      const std::vector<fs::path>& folders) {
  const ReportOutcome& outcome = conclusion.report;
  std::vector<std::string> read;
  for (const fs::path& folder : folders) read.push_back(folder.string());
  std::vector<std::string> figures;
  for (const fs::path& figure : outcome.figures) figures.push_back(figure.string());
  return printed_json({{"report", outcome.page.string()},
                       {"folders", read},
                       {"models", comparison.cells.size()},
                       {"missing", missing_cells(comparison)},
                       {"answer", answer_text(comparison, summarize(result_rows(comparison.cells)))},
                       {"claims", nlohmann::ordered_json::parse(conclusion.claims)},
                       {"figures", figures}});
}

int report(const ReportCommand& command) {
  command.output.set_up();
  std::vector<fs::path> folders(command.folders.begin(), command.folders.end());
  const fs::path out = report_folder(command, folders);
  const SignalGuard signals;
  const Comparison comparison = read_comparison(folders);
  if (const std::string missing = missing_text(comparison); !missing.empty()) spdlog::warn("{}", missing);

  if (command.check) warn_of_unjudged(comparison.config.compare);
  const Conclusion conclusion = conclude(comparison, out);
  if (!same_folder(out, folders.front())) write_tables(out, comparison);
  write_output(command.output.json ? json_text(comparison, conclusion, folders)
                                   : conclusion_text(comparison, conclusion));
  if (command.open) {
    const fs::path& page = conclusion.report.page;
    if (const std::string reason = open_page(page); !reason.empty())
      spdlog::warn("--open: {}; the page is {}", reason, fs::absolute(page).string());
  }
  return command.check ? check_criteria(conclusion.report.criteria, "report") : exit_code::done;
}

}  // namespace

Command report_command() {
  const auto options = std::make_shared<ReportCommand>();
  Command command{.name = "report",
                  .description = "the report of a comparison, made again from what is stored",
                  .examples = {"tapeline report runs/compare-toy --open",
                               "tapeline report share1 share2 share3 --out together"},
                  .run = [options] { return report(*options); }};
  command.options = {
      {.name = "DIR",
       .help = "a folder of tapeline compare; several are put together: shares of one comparison, or more "
               "seeds of it",
       .target = &options->folders,
       .required = true,
       .path = Option::Path::folder},
      {.name = "--out",
       .value = "DIR",
       .help = "where the report goes; default: into the one folder",
       .target = &options->out,
       .path = Option::Path::folder},
      {.name = "--open", .help = "show the page in the desktop's browser", .target = &options->open},
      {.name = "--check",
       .help = "exit with 4 when a criterion that compare.primary names fails, as compare --check",
       .target = &options->check},
  };
  command.details = {
      "Reads the results of every finished model in the folder and writes report.html with its figures anew; "
      "nothing is trained or evaluated. The same results give the same bytes. A comparison that is not "
      "complete is reported as far as it goes, and the page says what is missing.",
      "Several folders are put together into the one that --out names, which also gets results.csv, "
      "positions.csv and probes.csv of the whole. They must be of one configuration; their seeds need not "
      "follow one another. Such a place holds no models: the report is made again from the folders.",
      criteria_help};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline

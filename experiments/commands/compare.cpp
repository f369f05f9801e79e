#include "experiments/commands/compare.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files.h"
#include "experiments/command_line/as_typed.h"
#include "experiments/commands/common.h"
#include "experiments/commands/dry_run.h"
#include "experiments/compare/job.h"
#include "experiments/criteria/criterion.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/report/report.h"
#include "experiments/table.h"
#include "train/config_table.h"
#include "train/config_warnings.h"
#include "train/metrics.h"
#include "train/run_folder.h"
#include "train/training_corpus.h"

namespace tapeline {
namespace {

struct CompareCommand {
  ConfigOptions config;
  std::string out;
  bool check = false;
  OutputOptions output;
};

std::string json_results(const Comparison& comparison, const std::filesystem::path& folder,
                         const ReportOutcome& report, const std::string& criteria) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const ResultRow& row : result_rows(comparison.cells)) {
    const EvaluationResult& result = row.result;
    results.push_back({{"name", row.name},
                       {"kind", row.kind},
                       {"evaluation", row.evaluation},
                       {"seed", row.seed},
                       {"train_length", row.train_length},
                       {"protocol", result.cell.protocol_name()},
                       {"eval_length", result.cell.length},
                       {"stride", result.cell.stride},
                       {"scored_tokens", result.scored_tokens},
                       {"scored_bytes", result.scored_bytes},
                       {"status", result.status},
                       {"nll", json_number(result.nll)},
                       {"bits_per_byte", json_number(result.bits_per_byte)},
                       {"perplexity", json_number(result.perplexity)},
                       {"tail_nll", json_number(result.tail_nll)}});
  }
  return printed_json({{"folder", folder.string()},
                       {"report", report.page.string()},
                       {"results", std::move(results)},
                       {"claims", nlohmann::ordered_json::parse(criteria)}});
}

/// What the models of one seed give to wonder at, each remark once.
void warn_of_positions(const std::vector<Cell>& cells) {
  std::set<std::string> told;
  for (const Cell& cell : cells) {
    for (const CellEvaluation& evaluation : cell.evaluations) {
      for (const std::string& warning : positional_warnings(evaluation.config)) {
        if (told.insert(warning).second)
          spdlog::warn("{}: {}", series_name(cell.variant, evaluation.name), warning);
      }
    }
  }
}

/// What is evaluated besides the models as they were trained: "rope, ntk".
std::vector<std::string> further_evaluations(const std::vector<Cell>& cells) {
  std::vector<std::string> names;
  for (const Cell& cell : cells) {
    if (cell.seed != cells.front().seed) break;  // the others are the same
    for (const CellEvaluation& evaluation : cell.evaluations) {
      if (evaluation.name != trained_evaluation) names.push_back(series_name(cell.variant, evaluation.name));
    }
  }
  return names;
}

/// What --check says: the exit code, and on standard error which primary criteria fail and which are open.
int check(const std::vector<CriterionResult>& criteria) {
  bool failed = false, looked = false;
  for (const CriterionResult& result : criteria) {
    if (!result.primary) continue;
    looked = true;
    const std::string why = result.reason.empty() ? std::string() : fmt::format(" ({})", result.reason);
    if (result.verdict == Verdict::fails) {
      failed = true;
      write_error(fmt::format("compare --check: {} fails: asked {}, found {}{}", result.id, result.threshold,
                              result.figure, why));
    } else if (result.verdict != Verdict::holds) {
      spdlog::warn("--check: {} is {}, which is no failure{}", result.id, verdict_text(result.verdict), why);
    }
  }
  if (!looked)
    spdlog::warn(
        "--check: compare.claims with compare.thresholds names no primary criterion: nothing is checked");
  return failed ? exit_code::unmet : exit_code::done;
}

int compare(const CompareCommand& command) {
  command.output.set_up_computing();
  ResolvedConfig config = command.config.resolve();
  const std::vector<Cell> cells = plan_cells(config);
  warn_of_positions(cells);
  const auto models = static_cast<Index>(cells.size());
  const bool whole = !text_decides_tokens(config.config);  // nothing of the config waits for the text
  const std::filesystem::path folder =
      command.out.empty() ? std::filesystem::path("runs") / ("compare-" + command.config.name())
                          : std::filesystem::path(command.out);
  const RunFolder run(folder);
  if (whole && !command.config.dry_run() && run.holds_run())
    run.claim(config, StoredFor::comparison);  // another configuration: told before any text is read

  const SplitRule split = [&](Index tokens) { return comparison_splits(config, tokens); };
  const Corpus corpus = load_training_corpus(config, split);
  if (command.config.dry_run()) return dry_run(config, command.output, models, further_evaluations(cells));
  const CompareOptions options{folder, command_line(), progress_style(command.output.quiet)};
  const Comparison comparison = run_comparison(config, corpus.store, *corpus.tokenizer, options);

  const ReportOutcome report = write_report(comparison, folder);
  if (!report.figures_missing.empty()) spdlog::warn("{}", report.figures_missing);
  const std::vector<CriterionResult> criteria = judge(comparison);
  const std::string claims = criteria_json(criteria);
  write_file(folder / "claims.json", claims);
  if (command.output.json) {
    write_output(json_results(comparison, folder, report, claims));
  } else {
    const std::string verdicts = criteria_text(criteria, terminal_width());
    write_output(fmt::format("{}{}{}\nreport: {}\n", terminal_report(comparison),
                             verdicts.empty() ? "" : "\n", verdicts, report.page.string()));
  }
  return command.check ? check(criteria) : exit_code::done;
}

}  // namespace

Command compare_command() {
  const auto options = std::make_shared<CompareCommand>();
  Command command{.name = "compare",
                  .description = "several encodings: trained short, evaluated long, with a report",
                  .examples = {fmt::format("tapeline compare --preset toy --encodings {}",
                                           example_encodings({"learned", "sinusoidal", "rope", "alibi"})),
                               "tapeline compare scalings.toml --preset toy"},
                  .run = [options] { return compare(*options); },
                  .computes = true};
  options->config.add_to(command);
  command.options.front().help +=
      "; also variants and further evaluations of trained models ([[compare.variant]], "
      "[[compare.evaluation]]: tapeline manual config)";
  options->config.add_key(command, "--encodings", "compare.encodings", "A,B",
                          fmt::format("what to compare, see tapeline encodings; all: every one; default {}",
                                      fmt::join(default_config().compare.encodings, ",")),
                          encoding_names());
  command.options.back().list = true;
  options->config.add_key(command, "--seeds", "compare.seeds", "N", "how many times each is trained");
  command.options.push_back({.name = "--out",
                             .value = "DIR",
                             .help = "the folder of the comparison; default runs/compare-<preset or config "
                                     "name>; the same command goes on where it was stopped",
                             .target = &options->out,
                             .path = Option::Path::folder});
  command.options.push_back(
      {.name = "--check",
       .help =
           "exit with 4 when a primary criterion fails. The criteria C1 to C12 (compare.claims) are claims "
           "about "
           "the named encodings, each with a threshold that was fixed before the run (compare.thresholds): "
           "that ALiBi does not get worse with length (C1, C2), that sinusoidal positions do (C4) and RoPE "
           "stands between (C5), these four primary; orders, refusals, equality at the trained length and "
           "cost. Each holds, fails or is inconclusive by its 95 % interval over seeds; one seed has none. "
           "The verdicts stand below the tables and in claims.json",
       .target = &options->check});
  command.details = {
      "Trains every variant, usually one a positional encoding, under every seed on windows of one length, "
      "evaluates each at several times that length on the same targets, and prints a table. The folder gets "
      "results.csv and positions.csv (loss by position), a report to open (report.html, with its figures) "
      "and a folder of each "
      "run.",
      "A variant of its own is a [[compare.variant]] of the CONFIG: a name and the keys it changes. A "
      "[[compare.evaluation]] evaluates trained models once more under other positional settings, each a row "
      "of its own (\"rope, ntk\"): a name, the positional keys that it changes, and of which variant (of; "
      "left out: of every one that has the keys). What cannot change after training is refused before "
      "anything is trained.",
      "At the end the criteria that compare.claims names, C1 to C12, are judged: claims about none but the "
      "named "
      "encodings with their default settings, by a frozen set of thresholds (compare.thresholds, which a "
      "preset "
      "chooses). A criterion holds when the whole 95 % interval over seeds, paired, meets the threshold, "
      "fails "
      "when none of it does, and is inconclusive otherwise, also with one seed, which has no interval. "
      "Beside it "
      "stands the interval of a block bootstrap over the scored text. Diverged seeds are named and left out. "
      "With "
      "--check the exit status is 4 when C1, C2, C4 or C5 fails; smoke-1 only prints.",
      "A comparison that was stopped goes on with the same command: what is finished is not done again, an "
      "interrupted training goes on from its last checkpoint, and the bytes of the results are those of an "
      "undisturbed one."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline

#include "experiments/commands/compare.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/counted.h"
#include "core/error.h"
#include "core/parallel.h"
#include "experiments/command_line/as_typed.h"
#include "experiments/commands/common.h"
#include "experiments/commands/compare_budget.h"
#include "experiments/commands/conclusion.h"
#include "experiments/commands/dry_run.h"
#include "experiments/compare/job.h"
#include "experiments/compare/time_estimate.h"
#include "experiments/duration.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "train/config_table.h"
#include "train/config_warnings.h"
#include "train/metrics.h"
#include "train/preset.h"
#include "train/run_folder.h"
#include "train/signals.h"
#include "train/training_corpus.h"

namespace tapeline {
namespace {

struct CompareCommand {
  ConfigOptions config;
  std::string out;
  std::string budget, cells;
  bool check = false;
  OutputOptions output;
};

std::string json_results(const Comparison& comparison, const std::filesystem::path& folder,
                         const ReportOutcome& report, const std::string& criteria) {
  using Json = nlohmann::ordered_json;
  Json results = Json::array();
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
                       {"report", report.page.empty() ? Json() : Json(report.page.string())},
                       {"results", std::move(results)},
                       {"claims", Json::parse(criteria)}});
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

/// What --dry-run tells of a comparison.
DryRun planned_work(const ResolvedConfig& config, const Corpus& corpus, const Share& share) {
  const Layout layout = lay_out(config, corpus.store.size(), corpus.tokenizer->size(), share);
  DryRun run;
  run.evaluations = further_evaluations(plan_cells(config));
  run.models =
      std::ranges::count_if(layout.cells, [](const Cell& cell) { return cell.part != CellPart::swept; });
  for (std::size_t i = 0; i < layout.cells.size(); ++i) run.training_flops += layout.workload.training(i);
  const auto speeds = measure_speeds(layout, variant_names(layout), corpus.store, *corpus.tokenizer);
  if (speeds) run.time = whole_time(layout, *speeds);
  return run;
}

/// Of one share there is no report: the shares are put together first.
std::string share_report(const Comparison& comparison, const Share& share,
                         const std::filesystem::path& folder) {
  std::string folders = shell_quoted(folder.string()) + " OTHERS…", whole = "DIR";
  const std::string ending = fmt::format("-cells-{}-of-{}", share.number, share.of);
  if (folder.string().ends_with(ending)) {
    const std::string begin = folder.string().substr(0, folder.string().size() - ending.size());
    folders = fmt::format("{}-cells-*-of-{}", shell_quoted(begin), share.of);
    whole = shell_quoted(begin);
  }
  return fmt::format("cells {}: {} of {} done, in {}\nwhen all shares are: tapeline report {} --out {}\n",
                     share.text(), comparison.cells.size(), counted(comparison.planned, "model"),
                     folder.string(), folders, whole);
}

std::filesystem::path folder_of(const CompareCommand& command, const Share& share) {
  if (!command.out.empty()) return command.out;
  const std::string name = "compare-" + command.config.name();
  return std::filesystem::path("runs") /
         (share.whole() ? name : fmt::format("{}-cells-{}-of-{}", name, share.number, share.of));
}

int compare(const CompareCommand& command) {
  command.output.set_up_computing();
  const Share share = command.cells.empty() ? Share{} : parse_share(command.cells, "--cells");
  const bool budget = !command.budget.empty();
  if (budget) parse_duration(command.budget, "--budget");
  require<ConfigError>(!budget || share.whole(),
                       "--budget {} does not go with --cells {}: every share would choose for itself; give "
                       "all of them the same --seeds and --set train.steps=N",
                       command.budget, share.text());
  require<ConfigError>(
      !command.check || share.whole(),
      "--check does not go with --cells {}: criteria are judged on all cells; give it to tapeline report",
      share.text());
  ResolvedConfig config = command.config.resolve();
  const std::filesystem::path folder = folder_of(command, share);
  const RunFolder run(folder);
  const bool chosen = budget && take_earlier_choice(config, run, command.budget);
  warn_of_positions(plan_cells(config));
  if (command.check) warn_of_unjudged(config.config.compare);
  const bool whole = !text_decides_tokens(config.config);  // nothing of the config waits for the text
  if (whole && !command.config.dry_run() && run.holds_run()) {
    require_comparison(run);
    run.claim(config, StoredFor::comparison);  // another configuration: told before any text is read
  }

  const SplitRule split = [&](Index tokens) { return comparison_splits(config, tokens); };
  const Corpus corpus = load_training_corpus(config, split);
  if (config.config.train.threads > 0) set_thread_count(config.config.train.threads);
  if (budget && !chosen)
    choose_for_budget(config, command.budget, preset(command.config.preset_name()).fewest_steps, corpus);
  if (command.config.dry_run()) return dry_run(config, command.output, planned_work(config, corpus, share));
  const CompareOptions options{folder, command_line(), share, progress_style(command.output.quiet)};
  const SignalGuard signals;  // from the first model to the report
  const Comparison comparison = run_comparison(config, corpus.store, *corpus.tokenizer, options);
  if (!share.whole()) {
    write_output(command.output.json ? json_results(comparison, folder, {}, "[]")
                                     : share_report(comparison, share, folder));
    return exit_code::done;
  }

  const Conclusion conclusion = conclude(comparison, folder);
  write_output(command.output.json ? json_results(comparison, folder, conclusion.report, conclusion.claims)
                                   : conclusion_text(comparison, conclusion));
  return command.check ? check_criteria(conclusion.report.criteria, "compare") : exit_code::done;
}

}  // namespace

Command compare_command() {
  const auto options = std::make_shared<CompareCommand>();
  Command command{.name = "compare",
                  .description = "several encodings: trained short, evaluated long, with a report",
                  .examples = {fmt::format("tapeline compare --preset toy --encodings {}",
                                           example_encodings({"learned", "sinusoidal", "rope", "alibi"})),
                               "tapeline compare --preset toy --budget 30m",
                               "tapeline compare scalings.toml --preset toy",
                               "tapeline compare my.toml --preset paper --sweep --cells 2/5"},
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
  options->config.add_switch(command, "--sweep", "compare.sweep", "0.5,1,2",
                             "first try 0.5, 1 and 2 times each learning rate");
  command.options.push_back({.name = "--budget",
                             .value = "TIME",
                             .help = "as many of the seeds and steps as fit this time: 30m, 2h",
                             .target = &options->budget});
  command.options.push_back({.name = "--cells",
                             .value = "I/N",
                             .help = "share I of N alone: for job arrays",
                             .target = &options->cells});
  command.options.push_back({.name = "--out",
                             .value = "DIR",
                             .help = "the folder of the comparison; default runs/compare-<preset or config "
                                     "name>; the same command goes on where it was stopped",
                             .target = &options->out,
                             .path = Option::Path::folder});
  command.options.push_back(
      {.name = "--check",
       .help = "exit with 4 when a criterion that compare.primary names fails (by default C1, C2, C4, C5)",
       .target = &options->check});
  command.details = {
      "Trains every variant, usually one a positional encoding, under every seed on windows of one length, "
      "evaluates each at several times that length on the same targets, and prints a table. The folder gets "
      "results.csv, positions.csv (loss by position) and probes.csv (what else was measured of each model: "
      "evaluate.probes), a report to open (report.html, with its figures) and a folder of each run.",
      "A variant of its own is a [[compare.variant]] of the CONFIG: a name and the keys it changes. A "
      "[[compare.evaluation]] evaluates trained models once more under other positional settings, each a row "
      "of its own (\"rope, ntk\"): a name, the positional keys that it changes, and of which variant (of; "
      "left out: of every one that has the keys). What cannot change after training is refused before "
      "anything is trained.",
      "With --budget the most seeds are taken that leave each model the steps that its preset needs at "
      "least, then as many steps as fit; a single seed may get fewer, with a warning. What was chosen is "
      "part of the configuration, config.toml tells it, and the same command goes on with it.",
      "With --sweep a variant's learning rate is the one of the lowest loss at the trained length, on the "
      "targets that the comparison is scored on; no loss at a longer length has a say. sweep.csv tells every "
      "point and what it cost. The run with the best rate is that of the first seed and is not made twice.",
      "--cells 2/5 is the second of five shares of about equal cost, whole seeds where that comes out even, "
      "and with --sweep whole variants. Shares may run at the same time; each has a folder of its own, which "
      "no other process may use, and the configuration of the whole.",
      criteria_help,
      "A comparison that was stopped goes on with the same command: what is finished is not done again, an "
      "interrupted training goes on from its last checkpoint, and the bytes of the results are those of an "
      "undisturbed one."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline

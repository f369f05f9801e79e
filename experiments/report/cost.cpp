#include "experiments/report/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/counted.h"
#include "experiments/compare/speeds.h"
#include "experiments/median.h"
#include "experiments/quantity.h"
#include "experiments/report/variants.h"
#include "train/flops.h"
#include "train/progress.h"

namespace tapeline {
namespace {

std::string threads_note(const Comparison& comparison) {
  const TrainedOn on = trained_on(comparison);
  if (on.alike()) {
    const int threads = on.threads.empty() ? comparison.threads : *on.threads.begin();
    if (threads == 0) return "The number of threads was not kept.";
    return counted(threads, "thread") + ".";
  }
  std::vector<std::string> counts;
  for (const int threads : on.threads)
    counts.push_back(threads > 0 ? number_text(threads) : "an unknown number");
  return fmt::format(
      "The models were trained in {}, perhaps on as many machines, with {} thread{}: speeds of "
      "different folders or numbers of threads say nothing about each other (every trained model: below).",
      counted(on.shares.size(), "folder"), joined(counts),
      counts.size() == 1 && counts.front() == "1" ? "" : "s");
}

std::string speed_text(double tokens_per_second) {
  return tokens_per_second > 0 ? number_text(std::llround(tokens_per_second)) : std::string("–");
}

}  // namespace

ReportTable training_cost_table(const Comparison& comparison) {
  ReportTable table;
  table.title = "Training one model";
  table.header = {
      variant_word(comparison.config), "parameters", "work", "tokens per second", "of the fastest", "time"};
  struct Cost {
    std::string variant;
    double operations = 0, tokens = 0, speed = 0;
    Index parameters = 0;
  };
  std::vector<Cost> costs;
  for (const Variant& variant : all_variants(comparison.config)) {
    const Config config = with_variant(comparison.config, variant);
    Cost cost;
    cost.variant = variant.name;
    cost.tokens = static_cast<double>(config.train.steps * config.train.tokens_per_step);
    cost.operations = cost.tokens * token_flops(config.model, config.data.vocabulary, config.train.length,
                                                config.positional.keys)
                                        .training();
    std::vector<double> speeds;
    for (const FinishedCell& cell : comparison.cells) {
      if (cell.variant != variant.name) continue;
      cost.parameters = std::max(cost.parameters, cell.record.parameters);
      if (cell.record.tokens_per_second > 0) speeds.push_back(cell.record.tokens_per_second);
    }
    cost.speed = median(speeds);
    if (std::ranges::any_of(comparison.cells,
                            [&](const FinishedCell& cell) { return cell.variant == variant.name; }))
      costs.push_back(std::move(cost));
  }
  const bool alike = trained_on(comparison).alike();
  double fastest = 0;
  for (const Cost& cost : costs) fastest = std::max(fastest, cost.speed);
  for (const Cost& cost : costs) {
    table.rows.push_back(
        {cost.variant, cost.parameters > 0 ? number_text(cost.parameters) : std::string("–"),
         quantity(cost.operations, "FLOP"), speed_text(cost.speed),
         cost.speed > 0 && alike ? fmt::format("{:.2f}", cost.speed / fastest) : std::string("–"),
         cost.speed > 0 ? duration_text(cost.tokens / cost.speed) : std::string("–")});
  }
  table.notes = {threads_note(comparison),
                 "Speeds are as of the machine that it ran on: medians over the steps, then over the seeds; "
                 "compare them with each other only. The time is tokens over speed, checkpoints not counted. "
                 "The work counts linear layers, head and the causal half of attention, forward and "
                 "backward."};
  return table;
}

ReportTable evaluation_speed_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = table_of_series(comparison, all);
  table.title = "Evaluating, input tokens per second by length of the window, non-overlapping windows";
  const std::vector<Index> lengths = table_lengths(all);
  for (const Index length : lengths) table.header.push_back(length_header(length, common_train_length(all)));
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  for (const Series& series : all) {
    std::vector<std::string> row = row_label(series.name, series, all);
    for (const Index length : lengths) {
      std::vector<double> speeds;
      for (const ResultRow& result : rows) {
        const EvaluationCell& cell = result.result.cell;
        if (result.name == series.variant && result.evaluation == series.evaluation && cell.on_whole_set() &&
            cell.length == length && result.result.status == "ok") {
          speeds.push_back(result.result.tokens_per_second);
        }
      }
      row.push_back(speeds.empty() ? bits_text(series.at(length)) : speed_text(median(speeds)));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {threads_note(comparison),
                 "As of the machine that it ran on, medians over the seeds. Short windows are run several at "
                 "once."};
  return table;
}

ReportTable training_table(const Comparison& comparison) {
  ReportTable table;
  table.title = "The trained models";
  table.header = {"cell", "trained length", "parameters", "last training loss, nats per token",
                  "tokens per second"};
  const bool alike = trained_on(comparison).alike();
  if (!alike) table.header.insert(table.header.end(), {"threads", "folder"});
  for (const FinishedCell& cell : comparison.cells) {
    const bool diverged = cell.record.training == "diverged";
    table.rows.push_back({fmt::format("{}, seed {}", cell.variant, cell.seed), number_text(cell.train_length),
                          diverged ? "–" : number_text(cell.record.parameters),
                          diverged ? "diverged" : fmt::format("{:.4f}", cell.record.training_loss),
                          speed_text(cell.record.tokens_per_second)});
    if (alike) continue;
    const auto share = static_cast<std::size_t>(cell.share);
    table.rows.back().push_back(cell.record.threads > 0 ? number_text(cell.record.threads)
                                                        : std::string("–"));
    table.rows.back().push_back(share < comparison.folders.size() ? comparison.folders[share]
                                                                  : number_text(cell.share + 1));
  }
  table.notes = {threads_note(comparison), "Speeds are medians over the steps."};
  return table;
}

}  // namespace tapeline

#include "experiments/evaluation_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/output.h"
#include "experiments/position_table.h"
#include "experiments/probe_output.h"
#include "experiments/table.h"
#include "train/metrics.h"
#include "train/progress.h"

namespace tapeline {

namespace {

std::string figure(double value, int decimals) {
  if (std::isnan(value)) return "";
  if (std::isinf(value)) return "inf";
  return value >= 1e6 ? fmt::format("{:.3g}", value) : fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string protocol_label(const EvaluationCell& cell) {
  if (cell.protocol == Protocol::sliding) return fmt::format("sliding, stride {}", cell.stride);
  return cell.subset ? "non-overlapping, subset" : "non-overlapping";
}

std::string evaluation_table(const EvaluationReport& report) {
  Table table;
  table.column("length").column("of trained").column("protocol", Table::Align::left).column("scored tokens");
  table.column("nats/token").column("bits/byte").column("perplexity/token");
  if (report.tells_tail) table.column("tail nats");
  table.column("tokens/s");
  bool short_windows = false, tails = false, notes = false;
  std::string reasons;
  for (const EvaluationResult& result : report.results) {
    const double times = static_cast<double>(result.cell.length) / static_cast<double>(report.train_length);
    std::vector<std::string> row{fmt::format("{}", result.cell.length), fmt::format("{:.4g}x", times),
                                 protocol_label(result.cell)};
    if (result.status == "refused") {
      row.insert(row.end(), {"refused", "n/a", "n/a", "n/a"});
    } else {
      short_windows = short_windows || result.short_windows > 0;
      tails = tails || !std::isnan(result.tail_nll);
      row.push_back(fmt::format("{}{}", result.scored_tokens, result.short_windows > 0 ? "*" : ""));
      row.push_back(result.status == "diverged" ? result.status : figure(result.nll, 4));
      row.push_back(figure(result.bits_per_byte, 4));
      row.push_back(figure(result.perplexity, 4));
      if (report.tells_tail) row.push_back(figure(result.tail_nll, 4));
      row.push_back(short_number(result.tokens_per_second));
    }
    if (!result.reason.empty() && reasons.find(result.reason) == std::string::npos) {
      reasons += fmt::format("{}: {}\n", result.status, result.reason);
    }
    notes = notes || result.cell.subset;
    table.row(std::move(row));
  }
  std::string text =
      fmt::format("{}: {} positions{}, trained at length {} for {} steps; text {}, {} targets\n",
                  report.checkpoint, report.kind, report.settings.empty() ? "" : " (" + report.settings + ")",
                  report.train_length, report.step, report.text, report.targets);
  if (!report.changes.empty()) text += fmt::format("changed after training: {}\n", describe(report.changes));
  text += "\n" + table.text(terminal_width());
  text += "\n";
  text += "the first target of a window is predicted from one token; no token marks a beginning\n";
  if (tails && report.tells_tail) text += "tail: positions in the second half of the window only\n";
  if (report.chosen_for > 0) {
    text += fmt::format(
        "targets: the same at every length, chosen so that {} tokens stand before each of them; another "
        "longest length chooses others\n",
        report.chosen_for);
  }
  if (notes) text += "subset, sliding: on a fixed subset of the targets\n";
  if (short_windows) text += "*: some windows are shorter than the length (ends of segments or text)\n";
  text += reasons;
  if (report.tells_positions) text += position_table(report.results, terminal_width());
  text += probe_tables(report.probes, report.results, terminal_width());
  if (!report.not_measured.empty()) text += "\nnot measured:\n";
  for (const std::string& why : report.not_measured) text += why + '\n';
  return text;
}

nlohmann::ordered_json changes_json(const std::vector<ConfigDifference>& changes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ConfigDifference& change : changes) {
    list.push_back({{"key", change.key}, {"trained", change.first}, {"now", change.second}});
  }
  return list;
}

std::string evaluation_json(const EvaluationReport& report) {
  nlohmann::ordered_json json{{"checkpoint", report.checkpoint},
                              {"kind", report.kind},
                              {"positional_settings", report.settings},
                              {"positional_changes", changes_json(report.changes)},
                              {"train_length", report.train_length},
                              {"step", report.step},
                              {"text", report.text},
                              {"text_digest", report.text_digest},
                              {"targets", report.targets},
                              {"targets_chosen_for", report.chosen_for}};
  json["results"] = nlohmann::ordered_json::array();
  for (const EvaluationResult& result : report.results) {
    nlohmann::ordered_json row{{"protocol", result.cell.protocol_name()},
                               {"eval_length", result.cell.length},
                               {"stride", result.cell.stride},
                               {"status", result.status}};
    if (!result.reason.empty()) row["reason"] = result.reason;
    if (result.status != "refused") {
      row["scored_tokens"] = result.scored_tokens;
      row["scored_bytes"] = result.scored_bytes;
      row["short_windows"] = result.short_windows;
      row["nll"] = json_number(result.nll);
      row["bits_per_byte"] = json_number(result.bits_per_byte);
      row["perplexity"] = json_number(result.perplexity);
      if (!std::isnan(result.tail_nll)) {
        row["tail_nll"] = json_number(result.tail_nll);
        row["tail_tokens"] = result.tail_tokens;
      }
      row["tokens_per_second"] = result.tokens_per_second;
      for (const PositionBin& bin : result.positions) {
        row["positions"].push_back({{"first", bin.first},
                                    {"last", bin.last},
                                    {"tokens", bin.tokens},
                                    {"nll", json_number(bin.nll)}});
      }
    }
    json["results"].push_back(std::move(row));
  }
  json["probes"] = probes_json(report.probes);
  if (!report.not_measured.empty()) json["not_measured"] = report.not_measured;
  return printed_json(json);
}

}  // namespace tapeline

#include "experiments/evaluation_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/counted.h"
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

/// One table of cells on the whole set, or on the subset, where a column tells how the windows lie.
std::string cells_table(const EvaluationReport& report, bool on_whole_set, std::size_t width) {
  Table table;
  table.column("length").column("of trained");
  if (!on_whole_set) table.column("stride");
  table.column("scored tokens").column("nats/token").column("bits/byte").column("perplexity/token");
  if (report.tells_tail) table.column("tail nats");
  table.column("tokens/s");
  bool any = false;
  for (const EvaluationResult& result : report.results) {
    const EvaluationCell& cell = result.cell;
    if (cell.on_whole_set() != on_whole_set) continue;
    any = true;
    const double times = static_cast<double>(cell.length) / static_cast<double>(report.train_length);
    std::vector<std::string> row{fmt::format("{}", cell.length), fmt::format("{:.4g}x", times)};
    if (!on_whole_set)
      row.push_back(cell.protocol == Protocol::sliding ? fmt::format("{}", cell.stride) : "none");
    if (result.status == "refused") {
      row.insert(row.end(), {"refused", "n/a", "n/a", "n/a"});
    } else {
      row.push_back(fmt::format("{}{}", result.scored_tokens, result.short_windows > 0 ? "*" : ""));
      row.push_back(result.status == "diverged" ? result.status : figure(result.nll, 4));
      row.push_back(figure(result.bits_per_byte, 4));
      row.push_back(figure(result.perplexity, 4));
      if (report.tells_tail) row.push_back(figure(result.tail_nll, 4));
      row.push_back(short_number(result.tokens_per_second));
    }
    table.row(std::move(row));
  }
  if (!any) return {};
  return on_whole_set ? titled("non-overlapping windows, on all targets", table, "", width)
                      : titled("sliding windows, on a fixed subset of the targets", table,
                               "stride: new targets of a window; none: non-overlapping windows on the same "
                               "targets, to compare with",
                               width);
}

/// What is to be known of the tables, a line each.
std::vector<std::string> notes_on(const EvaluationReport& report) {
  const auto any = [&](const auto& is) { return std::ranges::any_of(report.results, is); };
  std::vector<std::string> notes{
      "the first target of a window is predicted from one token; no token marks a beginning"};
  if (report.tells_tail && any([](const EvaluationResult& r) { return !std::isnan(r.tail_nll); }))
    notes.emplace_back("tail: positions in the second half of the window only");
  if (report.chosen_for > 0) {
    notes.push_back(fmt::format(
        "targets: the same at every length, chosen so that {} stand before each of them; another longest "
        "length chooses others",
        counted(report.chosen_for, "token")));
  }
  if (any([](const EvaluationResult& r) { return r.short_windows > 0; }))
    notes.emplace_back("*: some windows are shorter than the length (ends of segments or text)");
  std::set<std::string> told;
  for (const EvaluationResult& result : report.results) {
    if (!result.reason.empty() && told.insert(result.reason).second)
      notes.push_back(fmt::format("{}: {}", result.status, result.reason));
  }
  return notes;
}

}  // namespace

std::string protocol_label(const EvaluationCell& cell) {
  if (cell.protocol == Protocol::sliding) return fmt::format("sliding, stride {}", cell.stride);
  return cell.subset ? "non-overlapping, subset" : "non-overlapping";
}

std::string evaluation_table(const EvaluationReport& report, std::size_t width) {
  std::string text =
      hanging("", 0,
              fmt::format("{}: {} positions{}, trained at length {} for {}; text {}, {}", report.checkpoint,
                          report.kind, report.settings.empty() ? "" : " (" + report.settings + ")",
                          report.train_length, counted(report.step, "step"), report.text,
                          counted(report.targets, "target")),
              width);
  if (!report.changes.empty())
    text += hanging("", 0, fmt::format("changed after training: {}", describe(report.changes)), width);
  text += cells_table(report, true, width);
  text += cells_table(report, false, width);
  text += "\n";
  for (const std::string& note : notes_on(report)) text += hanging("", 0, note, width);
  if (report.tells_positions) text += position_table(report.results, width);
  text += probe_tables(report.probes, report.results, width);
  if (!report.not_measured.empty()) text += "\nnot measured:\n";
  for (const std::string& why : report.not_measured) text += hanging("", 0, why, width);
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

#include "experiments/probe_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/counted.h"
#include "experiments/table.h"
#include "experiments/window_phase.h"
#include "train/metrics.h"

namespace tapeline {
namespace {

using Results = std::vector<const ProbeResult*>;

std::string number(double value, int decimals = 4) {
  if (std::isnan(value)) return "";
  return fmt::format("{:.{}f}", value, decimals);
}

/// With its sign, also where it is positive.
std::string difference(double value) { return fmt::format("{:+.4f}", value); }

/// A probe that measures one line of figures a length. A line of a length that is not ok says so.
template <class Fill>
void lines(Table& table, const Results& results, const Fill& fill) {
  for (const ProbeResult* result : results) {
    std::vector<std::string> cells{fmt::format("{}", result->length)};
    if (result->status != "ok") {
      cells.push_back(result->status);
    } else if (!result->figures.empty()) {
      fill(*result, cells);
    }
    table.row(std::move(cells));
  }
}

std::string residual_table(const Results& results, std::size_t width) {
  Table table;
  table.column("length").column("targets").column("nats/token").column("predicted").column("residual");
  lines(table, results, [](const ProbeResult& result, std::vector<std::string>& cells) {
    const ProbeFigure& residual = *result.find("residual");
    const double predicted = result.find("predicted_nll")->value;
    cells.insert(cells.end(), {fmt::format("{}", residual.tokens), number(predicted + residual.value),
                               number(predicted), difference(residual.value)});
  });
  return titled(
      "residual: the loss in longer windows beside what a smaller share of early tokens alone would give",
      table,
      "predicted: s + g n(T)/n(L), s the loss with full history at the trained length L (sliding, stride 1), "
      "g what non-overlapping windows of L cost more, n how many windows of a length cover the subset. "
      "Residual 0: farther tokens neither help nor hurt; below 0: they help",
      width);
}

std::string in_context_table(const Results& results, std::size_t width) {
  Table table;
  table.column("length").column("early nats/token").column("targets").column("late nats/token");
  table.column("targets").column("late - early");
  lines(table, results, [](const ProbeResult& result, std::vector<std::string>& cells) {
    const ProbeFigure &early = *result.find("early_nll"), &late = *result.find("late_nll");
    cells.insert(cells.end(), {number(early.value), fmt::format("{}", early.tokens), number(late.value),
                               fmt::format("{}", late.tokens), difference(result.find("score")->value)});
  });
  return titled("in_context: the loss around 0.9 of the window minus that around 0.1 (non-overlapping)",
                table,
                "early: positions above 0.05 up to 0.15 of the length; late: above 0.85 up to 0.95. Below 0: "
                "the model uses what it has read",
                width);
}

std::string hard_window_table(const Results& results, const std::vector<EvaluationResult>& evaluations,
                              std::size_t width) {
  Table table;
  table.column("length")
      .column("targets")
      .column("limited nats/token")
      .column("in full")
      .column("limited - full");
  table.column("tail limited").column("tail in full");
  lines(table, results, [&](const ProbeResult& result, std::vector<std::string>& cells) {
    const ProbeFigure& limited = *result.find("nll");
    const ProbeFigure* tail = result.find("tail_nll");
    const EvaluationResult* full = whole_set_result(evaluations, result.length);
    const bool known = full != nullptr && full->status == "ok";
    cells.insert(cells.end(),
                 {fmt::format("{}", limited.tokens), number(limited.value), known ? number(full->nll) : "",
                  known ? difference(limited.value - full->nll) : "",
                  tail != nullptr ? number(tail->value) : "", known ? number(full->tail_nll) : ""});
  });
  return titled(
      "hard_window: non-overlapping windows with attention limited to as many keys as it was trained with",
      table,
      "limited - full above 0: the model gains from keys farther back than it was trained to look; below 0: "
      "they harm it. tail: positions in the second half of the window",
      width);
}

std::string phase_table(const Results& results, const std::vector<EvaluationResult>& evaluations,
                        std::size_t width) {
  Table table;
  table.column("length").column("targets").column("shifted nats/token").column("not shifted");
  table.column("difference").column("95 % over the text").column("inside");
  lines(table, results, [&](const ProbeResult& result, std::vector<std::string>& cells) {
    const WindowPhase phase = window_phase(result, whole_set_result(evaluations, result.length));
    cells.insert(cells.end(), {fmt::format("{}", result.find("nll")->tokens), number(phase.shifted),
                               number(phase.shifted - phase.difference), difference(phase.difference),
                               phase.can_tell() ? fmt::format("{} to {}", number(phase.over_text.lower),
                                                              number(phase.over_text.upper))
                                                : "",
                               !phase.can_tell() ? ""
                               : phase.inside()  ? "yes"
                                                 : "no"});
  });
  return titled("phase: the loss in windows side by side, cut half a window earlier", table,
                fmt::format("95 % over the text: block bootstrap of the loss that is not shifted, over its "
                            "segments ({} at least). Inside: where the windows are cut makes no more of a "
                            "difference than other text would",
                            fewest_bootstrap_blocks),
                width);
}

/// A table with a column a length and a line a span.
template <class Cell>
Table by_span(const Results& results, const std::string& first_column, const std::string& quantity,
              const Cell& cell) {
  Table table;
  table.column(first_column);
  std::set<Index> spans;
  for (const ProbeResult* result : results) {
    table.column(fmt::format("length {}", result->length));
    for (const ProbeFigure& figure : result->figures) {
      if (figure.quantity == quantity) spans.insert(figure.span);
    }
  }
  for (const Index span : spans) {
    std::vector<std::string> cells{fmt::format("{}", span)};
    for (const ProbeResult* result : results) {
      const ProbeFigure* figure = result->find(quantity, span);
      cells.push_back(figure == nullptr ? "" : cell(figure->value));
    }
    table.row(std::move(cells));
  }
  return table;
}

/// A last line of such a table.
template <class Cell>
void last_line(Table& table, const Results& results, const std::string& name, const Cell& cell) {
  std::vector<std::string> cells{name};
  for (const ProbeResult* result : results)
    cells.push_back(result->status == "ok" ? cell(*result) : result->status);
  table.rule().row(std::move(cells));
}

/// "256 targets"
std::string targets_text(const Results& results) {
  for (const ProbeResult* result : results) {
    if (!result->figures.empty()) return counted(result->figures.front().tokens, "target");
  }
  return "no targets";
}

std::string history_table(const Results& results, std::size_t width) {
  Table table = by_span(results, "tokens of history", "nll", [](double value) { return number(value); });
  last_line(table, results, "effective context", [](const ProbeResult& result) {
    const ProbeFigure* figure = result.find("effective_context");
    return figure == nullptr ? std::string() : counted(std::llround(figure->value), "token");
  });
  return titled(
      fmt::format("history: nats/token of {} by how many tokens stand before them", targets_text(results)),
      table, "effective context: the least history that costs at most 0.01 nats a byte more than all of it",
      width);
}

std::string shuffle_table(const Results& results, std::size_t width) {
  Table table =
      by_span(results, "kept in order", "delta_nll", [](double value) { return difference(value); });
  last_line(table, results, "all: nats/token", [](const ProbeResult& result) {
    const ProbeFigure* figure = result.find("nll", result.length);
    return figure == nullptr ? std::string() : number(figure->value);
  });
  return titled(
      fmt::format(
          "shuffle: nats/token that {} cost more when only the last tokens before them stand in order",
          targets_text(results)),
      table, "what is farther back is there, in a random order; 0: the whole history is shuffled", width);
}

/// "1.234 (0.51 to 2.02)" over all heads.
std::string over_heads(const ProbeResult& result, const std::string& quantity, int decimals) {
  double sum = 0, lowest = HUGE_VAL, highest = -HUGE_VAL;
  Index heads = 0;
  for (const ProbeFigure& figure : result.figures) {
    if (figure.quantity != quantity) continue;
    sum += figure.value;
    lowest = std::min(lowest, figure.value);
    highest = std::max(highest, figure.value);
    ++heads;
  }
  if (heads == 0) return "";
  return fmt::format("{:.{}f} ({:.{}f} to {:.{}f})", sum / static_cast<double>(heads), decimals, lowest,
                     decimals, highest, decimals);
}

/// Two tables, the rows in the second one: all of these columns side by side are wider than a terminal.
std::string attention_table(const Results& results, std::size_t width) {
  Table weights, distances;
  weights.column("length").column("entropy nats").column("of equal").column("first 4 tokens");
  distances.column("length").column("rows").column("distance tokens").column("of farthest");
  lines(weights, results, [&](const ProbeResult& result, std::vector<std::string>& cells) {
    cells.insert(cells.end(), {over_heads(result, "entropy", 2), over_heads(result, "normalized_entropy", 2),
                               over_heads(result, "sink_mass", 3)});
  });
  lines(distances, results, [&](const ProbeResult& result, std::vector<std::string>& cells) {
    cells.insert(cells.end(),
                 {fmt::format("{}", result.find("entropy", 0, 0, 0)->tokens),
                  over_heads(result, "distance", 1), over_heads(result, "normalized_distance", 2)});
  });
  return titled("attention: mean over all heads (lowest to highest head)", weights,
                "of equal: entropy over that of equal weights; first 4 tokens: weight on them", width) +
         titled("attention: how far back, mean over all heads (lowest to highest head)", distances,
                "of farthest: distance over that of the farthest key. Head by head: --json", width);
}

}  // namespace

std::string probe_tables(const std::vector<ProbeResult>& probes,
                         const std::vector<EvaluationResult>& evaluations, std::size_t width) {
  std::string text;
  for (const std::string& name : probe_names()) {
    Results results;
    for (const ProbeResult& probe : probes) {
      if (probe.probe == name) results.push_back(&probe);
    }
    if (results.empty()) continue;
    if (name == "residual") text += residual_table(results, width);
    if (name == "in_context") text += in_context_table(results, width);
    if (name == "hard_window") text += hard_window_table(results, evaluations, width);
    if (name == "phase") text += phase_table(results, evaluations, width);
    if (name == "history") text += history_table(results, width);
    if (name == "shuffle") text += shuffle_table(results, width);
    if (name == "attention") text += attention_table(results, width);
  }
  return text;
}

nlohmann::ordered_json probes_json(const std::vector<ProbeResult>& probes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ProbeResult& probe : probes) {
    nlohmann::ordered_json json{
        {"probe", probe.probe}, {"eval_length", probe.length}, {"status", probe.status}};
    if (!probe.reason.empty()) json["reason"] = probe.reason;
    json["figures"] = nlohmann::ordered_json::array();
    const bool spans = probe.probe == "history" || probe.probe == "shuffle";
    for (const ProbeFigure& figure : probe.figures) {
      nlohmann::ordered_json one{{"quantity", figure.quantity}};
      if (spans && figure.quantity != "effective_context") one["span"] = figure.span;
      if (figure.layer >= 0) one["layer"] = figure.layer;
      if (figure.head >= 0) one["head"] = figure.head;
      one["tokens"] = figure.tokens;
      one["value"] = json_number(figure.value);
      json["figures"].push_back(std::move(one));
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace tapeline

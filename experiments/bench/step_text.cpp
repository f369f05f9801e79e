#include "experiments/bench/step_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/counted.h"
#include "experiments/bench/text.h"
#include "experiments/output.h"
#include "experiments/quantity.h"
#include "experiments/visible_text.h"
#include "train/progress.h"

namespace tapeline {
namespace {

nlohmann::ordered_json json_of(const OpTime& op) {
  nlohmann::ordered_json json = {{"name", op.name},       {"phase", nullptr},  {"calls", nullptr},
                                 {"seconds", op.seconds}, {"share", op.share}, {"flops", nullptr},
                                 {"gflops", nullptr},     {"bytes", nullptr}};
  if (!op.phase) return json;
  json["phase"] = phase_name(*op.phase);
  json["calls"] = op.calls;
  json["bytes"] = op.bytes;
  if (op.flops == 0) return json;
  json["flops"] = op.flops;
  json["gflops"] = op.gflops();
  return json;
}

std::string count_text(const StepSpeed& speed, double count) {
  return speed.allocations_counted ? fmt::format("{:.1f}", count) : "not counted here";
}

Table ops_table(const StepSpeed& speed) {
  Table table;
  table.column("op", Table::Align::left).column("phase", Table::Align::left).column("calls").column("ms");
  table.column("share").column("GFLOP/s").column("MB").column("GB/s");
  const auto percent = [](double share) { return fmt::format("{:.1f}%", 100 * share); };
  Index calls = 0;
  double flops = 0, bytes = 0;
  const auto megabytes = [](double count) { return fmt::format("{:.2f}", count / 1e6); };
  for (const OpTime& op : speed.ops) {
    calls += op.calls, flops += op.flops, bytes += op.bytes;
    std::vector<std::string> row{op.name, op.phase ? std::string(phase_name(*op.phase)) : "",
                                 op.phase ? fmt::format("{}", op.calls) : "", milliseconds_text(op.seconds),
                                 percent(op.share)};
    if (op.phase) {
      row.push_back(op.flops > 0 ? fmt::format("{:.1f}", op.gflops()) : "");
      row.push_back(megabytes(op.bytes));
      row.push_back(op.bytes > 0 ? fmt::format("{:.1f}", op.bytes / op.seconds / 1e9) : "");
    }
    table.row(row);
  }
  table.rule();
  table.row({"step", "", fmt::format("{}", calls), milliseconds_text(speed.ops_seconds), percent(1),
             fmt::format("{:.1f}", flops / speed.ops_seconds / 1e9), megabytes(bytes),
             fmt::format("{:.1f}", bytes / speed.ops_seconds / 1e9)});
  return table;
}

constexpr const char* ops_note =
    "ms: mean over the middle half of the repeats. GFLOP/s: matrix products, and\n"
    "attention over the pairs that are seen. MB: tensors read and written by an op,\n"
    "each once, wherever they lie (caches are faster than memory); scratch left out.\n"
    "The head's gradients are computed in cross_entropy's forward run.\n";

Table result_table(const StepSpeed& speed, const StepTrace& trace) {
  Table result;
  result.column("one training step", Table::Align::left).column("", Table::Align::left);
  result.row({"time", fmt::format("{:.2f} ms for {}, median of {}", 1e3 * speed.step_seconds,
                                  counted(speed.tokens, "token"), speed.repeats)});
  result.row({"speed", fmt::format("{} tokens/s, {:.1f} GFLOP/s, {}", short_number(speed.tokens_per_second),
                                   speed.gflops, threads_text(speed.threads))});
  if (speed.floor_seconds) {
    result.row({"floor", fmt::format("{:.2f} ms: the products above alone", 1e3 * *speed.floor_seconds)});
    result.row({"step / floor", ratio_text(speed.gemm_floor_ratio)});
  }
  result.row({"memory", fmt::format("{}: weights, gradients, moments, and the step at its highest",
                                    quantity(speed.peak_bytes, "B"))});
  if (speed.peak_rss_bytes) {
    result.row({"resident", fmt::format("{} above the weights at the highest, as the system counts it",
                                        quantity(*speed.peak_rss_bytes, "B"))});
  }
  result.row({"heap allocations",
              fmt::format("{} our own, {} in vendor libraries", count_text(speed, speed.heap_allocations),
                          count_text(speed, speed.vendor_allocations))});
  result.row({"minor page faults", fmt::format("{:.1f}", speed.minor_faults)});
  result.row(
      {"watching the ops",
       fmt::format("{:+.1f}% of a step, median of the pairs ({:.2f} ms with it, {:.2f} without)",
                   100 * speed.watch_overhead, 1e3 * speed.watched_step_seconds, 1e3 * speed.step_seconds)});
  if (trace.written() > 0)
    result.row({"trace", fmt::format("{} in {}; {}", counted(trace.written(), "step"),
                                     visible_text(trace.file().string()), how_to_open_trace)});
  return result;
}

}  // namespace

nlohmann::ordered_json step_object(const StepSpeed& speed) {
  nlohmann::ordered_json json = {{"tokens_per_second", speed.tokens_per_second},
                                 {"gflops", speed.gflops},
                                 {"gemm_floor_ratio", number_or_null(speed.gemm_floor_ratio)},
                                 {"step_seconds", speed.step_seconds},
                                 {"floor_seconds", number_or_null(speed.floor_seconds)},
                                 {"peak_bytes", speed.peak_bytes},
                                 {"step_peak_rss_bytes", number_or_null(speed.peak_rss_bytes)},
                                 {"heap_allocations", nullptr},
                                 {"vendor_allocations", nullptr},
                                 {"minor_faults", speed.minor_faults},
                                 {"tokens_per_step", speed.tokens},
                                 {"threads", speed.threads},
                                 {"repeats", speed.repeats},
                                 {"watched_step_seconds", speed.watched_step_seconds},
                                 {"watch_overhead", speed.watch_overhead},
                                 {"ops_seconds", speed.ops_seconds},
                                 {"ops", nlohmann::ordered_json::array()}};
  if (speed.allocations_counted) {
    json["heap_allocations"] = speed.heap_allocations;
    json["vendor_allocations"] = speed.vendor_allocations;
  }
  for (const OpTime& op : speed.ops) json["ops"].push_back(json_of(op));
  return json;
}

std::string step_json(const StepSpeed& speed) { return printed_json(step_object(speed)); }

std::string step_text(const StepSpeed& speed, const StepTrace& trace, std::size_t width) {
  const std::string floor = speed.floor.empty() ? std::string() : floor_table(speed.floor).text(width) + '\n';
  return floor + ops_table(speed).text(width) + ops_note + '\n' + result_table(speed, trace).text(width);
}

std::string encodings_json(const std::vector<StepSpeed>& speeds) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const StepSpeed& speed : speeds) {
    nlohmann::ordered_json& json = list.emplace_back(nlohmann::ordered_json{
        {"encoding", speed.encoding}, {"ratio_over_none", number_or_null(speed.ratio_over_none)}});
    json.update(step_object(speed));
  }
  return printed_json(list);
}

std::string encodings_text(const std::vector<StepSpeed>& speeds, std::size_t width) {
  Table table;
  table.column("encoding", Table::Align::left).column("ms a step").column("over none").column("tokens/s");
  table.column("GFLOP/s").column("step / floor").column("memory MB");
  for (const StepSpeed& speed : speeds) {
    table.row({speed.encoding, milliseconds_text(speed.step_seconds),
               speed.ratio_over_none ? fmt::format("{:.3f}", *speed.ratio_over_none) : "",
               short_number(speed.tokens_per_second), fmt::format("{:.1f}", speed.gflops),
               ratio_text(speed.gemm_floor_ratio), fmt::format("{:.1f}", speed.peak_bytes / 1e6)});
  }
  const StepSpeed& first = speeds.front();
  return table.text(width) + fmt::format("A step of {}, medians of {}, {}; one repeat of each in turn.\n",
                                         counted(first.tokens, "token"), first.repeats,
                                         threads_text(first.threads));
}

}  // namespace tapeline

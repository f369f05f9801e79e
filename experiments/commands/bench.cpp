#include "experiments/commands/bench.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/excerpt.h"
#include "experiments/bench/step.h"
#include "experiments/commands/common.h"
#include "experiments/commands/dry_run.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/table.h"
#include "train/progress.h"

namespace tapeline {
namespace {

struct BenchCommand {
  ConfigOptions config;
  std::string what;
  Index repeats = 15;
  std::string trace;
  OutputOptions output;
};

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

std::string json_text(const StepSpeed& speed) {
  nlohmann::ordered_json json = {{"tokens_per_second", speed.tokens_per_second},
                                 {"gflops", speed.gflops},
                                 {"gemm_floor_ratio", speed.gemm_floor_ratio},
                                 {"step_seconds", speed.step_seconds},
                                 {"floor_seconds", speed.floor_seconds},
                                 {"peak_bytes", speed.peak_bytes},
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
  return printed_json(json);
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
                                 op.phase ? fmt::format("{}", op.calls) : "",
                                 fmt::format("{:.3f}", 1e3 * op.seconds), percent(op.share)};
    if (op.phase) {
      row.push_back(op.flops > 0 ? fmt::format("{:.1f}", op.gflops()) : "");
      row.push_back(megabytes(op.bytes));
      row.push_back(op.bytes > 0 ? fmt::format("{:.1f}", op.bytes / op.seconds / 1e9) : "");
    }
    table.row(row);
  }
  table.rule();
  table.row({"step", "", fmt::format("{}", calls), fmt::format("{:.3f}", 1e3 * speed.ops_seconds), percent(1),
             fmt::format("{:.1f}", flops / speed.ops_seconds / 1e9), megabytes(bytes),
             fmt::format("{:.1f}", bytes / speed.ops_seconds / 1e9)});
  return table;
}

constexpr const char* ops_note =
    "ms: mean over the middle half of the repeats. GFLOP/s: matrix products, and\n"
    "attention over the pairs that are seen. MB: tensors read and written by an op,\n"
    "each once, wherever they lie (caches are faster than memory); scratch left out.\n"
    "The head's gradients are computed in cross_entropy's forward run.\n";

std::string human_text(const StepSpeed& speed, const StepTrace& trace) {
  Table floor;
  floor.column("product", Table::Align::left).column("m").column("n").column("k").column("times");
  floor.column("ms each").column("GFLOP/s").column("fastest", Table::Align::left);
  for (const StepFloor::Line& line : speed.floor) {
    const bool attention = &line == &speed.floor.back();
    const double operations = 2e-9 * static_cast<double>(line.m) * static_cast<double>(line.n) *
                              static_cast<double>(line.k) / line.seconds;
    floor.row({line.name, fmt::format("{}", line.m), fmt::format("{}", line.n), fmt::format("{}", line.k),
               fmt::format("{}", line.count), fmt::format("{:.3f}", 1e3 * line.seconds),
               attention ? "" : fmt::format("{:.1f}", operations), line.choice});
  }
  Table result;
  result.column("one training step", Table::Align::left).column("", Table::Align::left);
  const auto tokens = static_cast<double>(speed.tokens);
  result.row({"time", fmt::format("{:.2f} ms for {} tokens, median of {}", 1e3 * speed.step_seconds,
                                  speed.tokens, speed.repeats)});
  result.row({"speed", fmt::format("{} tokens/s, {:.1f} GFLOP/s, {} thread{}",
                                   short_number(tokens / speed.step_seconds), speed.gflops, speed.threads,
                                   speed.threads == 1 ? "" : "s")});
  result.row({"floor", fmt::format("{:.2f} ms: the products above alone", 1e3 * speed.floor_seconds)});
  result.row({"step / floor", fmt::format("{:.2f}", speed.gemm_floor_ratio)});
  result.row({"memory", fmt::format("{}B: weights, gradients, moments, and the step at its highest",
                                    short_number(speed.peak_bytes))});
  result.row({"heap allocations",
              fmt::format("{} our own, {} in vendor libraries", count_text(speed, speed.heap_allocations),
                          count_text(speed, speed.vendor_allocations))});
  result.row({"minor page faults", fmt::format("{:.1f}", speed.minor_faults)});
  result.row(
      {"watching the ops",
       fmt::format("{:+.1f}% of a step, median of the pairs ({:.2f} ms with it, {:.2f} without)",
                   100 * speed.watch_overhead, 1e3 * speed.watched_step_seconds, 1e3 * speed.step_seconds)});
  if (trace.written() > 0)
    result.row({"trace", fmt::format("{} steps in {}; {}", trace.written(), trace.file().string(),
                                     how_to_open_trace)});
  const std::size_t width = terminal_width();
  return floor.text(width) + '\n' + ops_table(speed).text(width) + ops_note + '\n' + result.text(width);
}

int bench(const BenchCommand& command) {
  command.output.set_up_computing();
  require<ConfigError>(command.what == "step", "bench: there is no \"{}\" to measure; there is step",
                       excerpt(command.what));
  require<ConfigError>(command.repeats >= 1 && command.repeats <= 10000,
                       "--repeats {}: it must be from 1 to 10000", command.repeats);
  const ResolvedConfig config = command.config.resolve();
  if (command.config.dry_run()) return dry_run(config, command.output);
  if (!command.trace.empty()) check_trace_file(command.trace);
  StepTrace trace(command.trace);
  const StepSpeed speed = measure_step(config.config, command.repeats, trace);
  write_output(command.output.json ? json_text(speed) : human_text(speed, trace));
  return exit_code::done;
}

}  // namespace

Command bench_command() {
  const auto options = std::make_shared<BenchCommand>();
  Command command{.name = "bench",
                  .description = "speed against the machine's own measured limit",
                  .examples = {"tapeline bench step --preset toy --json"},
                  .run = [options] { return bench(*options); }};
  command.options = {{.name = "WHAT",
                      .help = "step: one training step",
                      .target = &options->what,
                      .required = true,
                      .offers = {"step"}}};
  options->config.add_to(command);
  command.options.push_back({.name = "--repeats",
                             .value = "N",
                             .help = "how often each thing is timed; default 15",
                             .target = &options->repeats});
  command.options.push_back({.name = "--trace",
                             .value = "FILE",
                             .help = fmt::format("write the ops of {} steps for chrome://tracing or Perfetto",
                                                 StepTrace::default_steps),
                             .target = &options->trace,
                             .path = Option::Path::file});
  command.details = {
      "Times whole training steps, and beside them the products of matrices and the attention of such a step "
      "alone, as fast as this machine can: the floor. The ratio of the two is what everything else costs, "
      "whatever the machine.",
      "The table by op tells where it goes: calls, time, operations and bytes of every op, forward and "
      "backward. "
      "It comes from steps that are watched, and what watching costs stands below it."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline

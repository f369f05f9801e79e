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
  OutputOptions output;
};

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
                                 {"repeats", speed.repeats}};
  if (speed.allocations_counted) {
    json["heap_allocations"] = speed.heap_allocations;
    json["vendor_allocations"] = speed.vendor_allocations;
  }
  return json.dump(2) + '\n';
}

std::string count_text(const StepSpeed& speed, double count) {
  return speed.allocations_counted ? fmt::format("{:.1f}", count) : "not counted here";
}

std::string human_text(const StepSpeed& speed) {
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
  return floor.text(terminal_width()) + '\n' + result.text(terminal_width());
}

int bench(const BenchCommand& command) {
  command.output.set_up();
  require<ConfigError>(command.what == "step", "bench: there is no \"{}\" to measure; there is step",
                       excerpt(command.what));
  require<ConfigError>(command.repeats >= 1 && command.repeats <= 10000,
                       "--repeats {}: it must be from 1 to 10000", command.repeats);
  const ResolvedConfig config = command.config.resolve();
  if (command.config.dry_run()) return dry_run(config, command.output);
  const StepSpeed speed = measure_step(config.config, command.repeats);
  write_output(command.output.json ? json_text(speed) : human_text(speed));
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
                      .value = "",
                      .help = "step: one training step",
                      .target = &options->what,
                      .required = true,
                      .offers = {"step"}}};
  options->config.add_to(command);
  command.options.push_back({.name = "--repeats",
                             .value = "N",
                             .help = "how often each thing is timed; default 15",
                             .target = &options->repeats});
  command.details = {
      "Times whole training steps, and beside them the products of matrices and the attention of such a step "
      "alone, as fast as this machine can: the floor. The ratio of the two is what everything else costs, "
      "whatever the machine."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline

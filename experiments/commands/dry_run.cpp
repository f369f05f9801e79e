#include "experiments/commands/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "core/counted.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "experiments/duration.h"
#include "experiments/exit_code.h"
#include "experiments/measured_step.h"
#include "experiments/output.h"
#include "experiments/quantity.h"
#include "train/flops.h"
#include "train/progress.h"
#include "train/train_step.h"

namespace tapeline {
namespace {

struct WorkEstimate {
  double matrix_parameters = 0;  // those of linear layers and head, counted
  double step_flops = 0, training_flops = 0;
  std::optional<MeasuredStep> measured;  // absent: too large for this machine
  double training_seconds = 0;
  int threads = 1;
};

WorkEstimate estimate(const Config& config, const DryRun& run) {
  if (config.train.threads > 0) set_thread_count(config.train.threads);
  const StepShape shape = step_shape(config.train);
  const TokenFlops flops =
      token_flops(config.model, config.data.vocabulary, shape.length, config.positional.keys);
  WorkEstimate found;
  found.threads = thread_count();
  found.matrix_parameters = flops.linear / 2;
  found.step_flops = flops.training() * static_cast<double>(shape.tokens());
  const double steps = static_cast<double>(config.train.steps) * static_cast<double>(run.models);
  found.training_flops = run.training_flops > 0 ? run.training_flops : found.step_flops * steps;
  found.measured = measure_step(config);
  if (found.measured) found.training_seconds = found.measured->seconds * steps;
  return found;
}

std::string json_text(const ResolvedConfig& config, const WorkEstimate& found, const DryRun& run) {
  nlohmann::ordered_json json = {
      {"config", resolved_text(config.config)}, {"origins", config.origins}, {"models", run.models},
      {"evaluations", run.evaluations},         {"parameters", nullptr},     {"step_flops", found.step_flops},
      {"training_flops", found.training_flops}, {"bytes", nullptr},          {"training_seconds", nullptr},
      {"evaluation_seconds", nullptr},          {"threads", found.threads}};
  if (found.measured) {
    json["parameters"] = found.measured->parameters;
    json["bytes"] = found.measured->bytes;
    json["training_seconds"] = found.training_seconds;
  }
  if (run.time) {
    json["training_seconds"] = run.time->training;
    json["evaluation_seconds"] = run.time->evaluation;
  }
  return printed_json(json);
}

std::string time_text(const WorkEstimate& found, const DryRun& run) {
  const std::string threads = counted(found.threads, "thread");
  if (run.time)
    return fmt::format(
        "about {} on {}: {} of training, {} of evaluation (a few steps and windows of every variant were "
        "timed)",
        rough_duration(run.time->total()), threads, duration_text(run.time->training),
        duration_text(run.time->evaluation));
  return fmt::format("about {} of training on {}, evaluation not counted (a few steps were timed)",
                     duration_text(found.training_seconds), threads);
}

std::string plain_text(const ResolvedConfig& config, const WorkEstimate& found, const DryRun& run) {
  std::string text = annotated_text(config);
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("# {:<12} {}\n", what, value);
  };
  text += '\n';
  if (run.models != 1)
    line("models",
         fmt::format("{}; one of kind \"{}\" was looked at", run.models, config.config.positional.name()));
  if (!run.evaluations.empty())
    line("evaluations", fmt::format("each model as trained; also {}", fmt::join(run.evaluations, "; ")));
  line("parameters", found.measured ? fmt::format("{}", found.measured->parameters)
                                    : "about " + short_number(found.matrix_parameters));
  line("work", fmt::format("{} a step, {} of training in all", quantity(found.step_flops, "FLOP"),
                           quantity(found.training_flops, "FLOP")));
  if (!found.measured) {
    line("memory", fmt::format("more than this machine's {}", quantity(physical_memory_bytes(), "B")));
    return text;
  }
  line("memory", fmt::format("{} a model, the text not counted", quantity(found.measured->bytes, "B")));
  line("time", time_text(found, run));
  return text;
}

}  // namespace

int dry_run(const ResolvedConfig& config, const OutputOptions& output, const DryRun& run) {
  const WorkEstimate found = estimate(config.config, run);
  write_output(output.json ? json_text(config, found, run) : plain_text(config, found, run));
  return exit_code::done;
}

}  // namespace tapeline

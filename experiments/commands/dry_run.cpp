#include "experiments/commands/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/random.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "train/config_derived.h"
#include "train/flops.h"
#include "train/optimizer.h"
#include "train/progress.h"
#include "train/train_step.h"

namespace tapeline {
namespace {

struct Measured {
  Index parameters = 0;
  double bytes = 0;         // weights, gradients, moments, the step's own
  double step_seconds = 0;  // one step, the optimizer included
};

struct WorkEstimate {
  double matrix_parameters = 0;  // those of linear layers and head, counted
  double step_flops = 0, training_flops = 0;
  std::optional<Measured> measured;  // absent: too large for this machine
  double training_seconds = 0;
  int threads = 1;
};

Measured measure(const Config& config, const StepShape& shape) {
  Transformer model(model_plan(config));
  TrainStep step(model, shape, config.model.dropout, config.train.seed);
  const auto optimizer = make_optimizer(config.optimizer, model.parameters());
  std::vector<Token> tokens(static_cast<std::size_t>(shape.tokens()));
  const auto vocabulary = static_cast<std::uint64_t>(model.plan().vocabulary);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<Token>(random_below(random_key(0, "dry run"), i, vocabulary));
  }
  Measured measured;
  double spent = 0;
  for (Index number = 1; number <= 6 && spent < 1; ++number) {
    const auto start = std::chrono::steady_clock::now();
    step.run(number, tokens, tokens);
    optimizer->update(
        {.rate = 0, .divisor = static_cast<double>(shape.tokens()), .clip = config.optimizer.clip});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // The first step takes the memory; of the others the fastest was disturbed least.
    measured.step_seconds = number <= 2 ? seconds : std::min(measured.step_seconds, seconds);
    if (number >= 2) spent += seconds;
  }
  measured.parameters = model.parameters().size();
  const double copies = 2 + static_cast<double>(optimizer->slots().size());
  measured.bytes = copies * static_cast<double>(measured.parameters) * sizeof(Real) +
                   static_cast<double>(step.peak_bytes());
  return measured;
}

WorkEstimate estimate(const Config& config, Index models) {
  if (config.train.threads > 0) set_thread_count(config.train.threads);
  const StepShape shape = step_shape(config.train);
  const TokenFlops flops = token_flops(config.model, config.data.vocabulary, shape.length);
  WorkEstimate found;
  found.threads = thread_count();
  found.matrix_parameters = flops.linear / 2;
  found.step_flops = flops.training() * static_cast<double>(shape.tokens());
  const double steps = static_cast<double>(config.train.steps) * static_cast<double>(models);
  found.training_flops = found.step_flops * steps;
  // At least weights, gradients and two moments, and of each token of a micro-batch a dozen rows a layer.
  const double rows = static_cast<double>(shape.micro_batch * shape.length);
  const double least =
      sizeof(Real) * (4 * found.matrix_parameters +
                      12 * rows * static_cast<double>(config.model.layers * config.model.width));
  if (least > usable_memory_bytes()) return found;
  found.measured = measure(config, shape);
  found.training_seconds = found.measured->step_seconds * steps;
  return found;
}

std::string json_text(const ResolvedConfig& config, const WorkEstimate& found, Index models,
                      const std::vector<std::string>& evaluations) {
  nlohmann::ordered_json json = {{"config", resolved_text(config.config)},
                                 {"origins", config.origins},
                                 {"models", models},
                                 {"evaluations", evaluations},
                                 {"parameters", nullptr},
                                 {"step_flops", found.step_flops},
                                 {"training_flops", found.training_flops},
                                 {"bytes", nullptr},
                                 {"training_seconds", nullptr},
                                 {"threads", found.threads}};
  if (found.measured) {
    json["parameters"] = found.measured->parameters;
    json["bytes"] = found.measured->bytes;
    json["training_seconds"] = found.training_seconds;
  }
  return printed_json(json);
}

std::string plain_text(const ResolvedConfig& config, const WorkEstimate& found, Index models,
                       const std::vector<std::string>& evaluations) {
  std::string text = annotated_text(config);
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("# {:<12} {}\n", what, value);
  };
  text += '\n';
  if (models != 1)
    line("models",
         fmt::format("{}; one of kind \"{}\" was looked at", models, config.config.positional.name()));
  if (!evaluations.empty())
    line("evaluations", fmt::format("each model as trained; also {}", fmt::join(evaluations, "; ")));
  line("parameters", found.measured ? fmt::format("{}", found.measured->parameters)
                                    : "about " + short_number(found.matrix_parameters));
  line("work", fmt::format("{}FLOP a step, {}FLOP of training in all", short_number(found.step_flops),
                           short_number(found.training_flops)));
  if (!found.measured) {
    line("memory", fmt::format("more than this machine's {}B", short_number(physical_memory_bytes())));
    return text;
  }
  line("memory", fmt::format("{}B a model, the text not counted", short_number(found.measured->bytes)));
  line("time",
       fmt::format("about {} of training on {} thread{}, evaluation not counted (a few steps were timed)",
                   duration_text(found.training_seconds), found.threads, found.threads == 1 ? "" : "s"));
  return text;
}

}  // namespace

int dry_run(const ResolvedConfig& config, const OutputOptions& output, Index models,
            const std::vector<std::string>& evaluations) {
  const WorkEstimate found = estimate(config.config, models);
  write_output(output.json ? json_text(config, found, models, evaluations)
                           : plain_text(config, found, models, evaluations));
  return exit_code::done;
}

}  // namespace tapeline

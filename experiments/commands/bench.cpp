#include "experiments/commands/bench.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/excerpt.h"
#include "core/parallel.h"
#include "experiments/bench/attention_text.h"
#include "experiments/bench/evaluate_text.h"
#include "experiments/bench/gemm_text.h"
#include "experiments/bench/generate_text.h"
#include "experiments/bench/scaling_text.h"
#include "experiments/bench/step_text.h"
#include "experiments/commands/common.h"
#include "experiments/commands/dry_run.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/table.h"
#include "layers/transformer.h"
#include "train/config_derived.h"
#include "train/signals.h"

namespace tapeline {
namespace {

constexpr Index not_given = std::numeric_limits<Index>::min();
constexpr Index most_repeats = 10000;
constexpr Index most_generated = Index{1} << 20;
// Of a length of attention, unless --repeats says how often: the longest take minutes.
constexpr double seconds_a_length = 60;

struct BenchCommand {
  ConfigOptions config;
  std::string what, lengths, encodings, trace;
  Index repeats = not_given, tokens = not_given;
  bool no_floor = false, scaling = false;
  OutputOptions output;

  BenchOptions options(Index default_repeats) const {
    return {.repeats = repeats == not_given ? default_repeats : repeats,
            .floor = !no_floor,
            .progress = progress_style(output.quiet)};
  }
  /// Prints one of the two.
  int print(const auto& speed, const auto& json, const auto& text) const {
    write_output(output.json ? json(speed) : text(speed, terminal_width()));
    return exit_code::done;
  }
};

/// "--lengths 64,16x" in tokens, in their order, each once.
std::vector<Index> lengths_of(const std::string& text, const Config& config) {
  std::vector<Index> lengths;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const Index length = length_in_tokens(text.substr(begin, end - begin), config.train.length, "--lengths");
    if (std::ranges::find(lengths, length) == lengths.end()) lengths.push_back(length);
    begin = end + 1;
  }
  return lengths;
}

/// Whether the model can be made is known before anything is.
void check_model(const Config& config) { Transformer::parameter_count(model_plan(config)); }

/// What --encodings asks for.
std::vector<Config> configs_of(const BenchCommand& command, ResolvedConfig resolved) {
  require<ConfigError>(command.trace.empty(), "--trace is of one model; leave --encodings out");
  resolved.config.compare.variants.clear();
  resolved.config.compare.evaluations.clear();
  assign(resolved, {"compare.encodings", command.encodings, "--encodings"});
  std::vector<Config> configs;
  for (const Variant& variant : all_variants(resolved.config)) {
    configs.push_back(with_variant(resolved.config, variant));
    check_model(configs.back());
  }
  return configs;
}

int bench_step(const BenchCommand& command, const ResolvedConfig& resolved) {
  if (!command.encodings.empty())
    return command.print(measure_encodings(configs_of(command, resolved), command.options(15)),
                         encodings_json, encodings_text);
  if (command.scaling)
    return command.print(measure_scaling(resolved.config, command.options(15)), scaling_json, scaling_text);
  StepTrace trace(command.trace);
  const StepSpeed speed = measure_step(resolved.config, command.options(15), trace);
  return command.print(speed, step_json, [&](const StepSpeed& shown, std::size_t width) {
    return step_text(shown, trace, width);
  });
}

int bench_attention(const BenchCommand& command, const ResolvedConfig& resolved) {
  const std::string lengths = command.lengths.empty() ? "64,256,1024,4096,16384,65536" : command.lengths;
  const double seconds =
      command.repeats == not_given ? seconds_a_length : std::numeric_limits<double>::infinity();
  return command.print(
      measure_attention(resolved.config, lengths_of(lengths, resolved.config), seconds, command.options(5)),
      attention_json, attention_text);
}

int bench_gemm(const BenchCommand& command, const ResolvedConfig& resolved) {
  return command.print(measure_gemm(resolved.config, command.options(15)), gemm_json, gemm_text);
}

int bench_evaluate(const BenchCommand& command, const ResolvedConfig& resolved) {
  const std::string lengths = command.lengths.empty() ? "4096,16384" : command.lengths;
  return command.print(
      measure_evaluation(resolved.config, lengths_of(lengths, resolved.config), command.options(5)),
      window_speeds_json, window_speeds_text);
}

int bench_generate(const BenchCommand& command, const ResolvedConfig& resolved) {
  const Index tokens = command.tokens == not_given ? 256 : command.tokens;
  return command.print(measure_generation(resolved.config, tokens, command.options(5)), generation_json,
                       generation_text);
}

/// One thing to measure, and which of the flags it has.
struct What {
  std::string_view name, help;
  int (*run)(const BenchCommand& command, const ResolvedConfig& config);
  std::vector<std::string_view> flags;
};

const std::array<What, 5>& all_whats() {
  static const std::array<What, 5> all{{
      {"step", "a training step", bench_step, {"--encodings", "--scaling", "--trace", "--no-floor"}},
      {"attention", "the op alone, by length", bench_attention, {"--lengths", "--no-floor"}},
      {"gemm", "a step's products by every library", bench_gemm, {}},
      {"evaluate", "a long window", bench_evaluate, {"--lengths", "--no-floor"}},
      {"generate", "token by token", bench_generate, {"--tokens", "--no-floor"}},
  }};
  return all;
}

const What& find_what(const std::string& name) {
  const auto found = std::ranges::find(all_whats(), name, &What::name);
  std::vector<std::string_view> names;
  for (const What& what : all_whats()) names.push_back(what.name);
  require<ConfigError>(found != all_whats().end(), "bench: there is no \"{}\" to measure; there are {}",
                       excerpt(name), fmt::join(names, ", "));
  return *found;
}

/// A flag that belongs to another benchmark would be ignored.
void check_flags(const BenchCommand& command, const What& what) {
  const auto check = [&](bool given, std::string_view flag) {
    if (!given || std::ranges::find(what.flags, flag) != what.flags.end()) return;
    std::vector<std::string_view> having;
    for (const What& other : all_whats()) {
      if (std::ranges::find(other.flags, flag) != other.flags.end()) having.push_back(other.name);
    }
    fail<ConfigError>("bench {} has no {}; it belongs to bench {}", what.name, flag, fmt::join(having, ", "));
  };
  check(!command.lengths.empty(), "--lengths");
  check(!command.encodings.empty(), "--encodings");
  check(command.scaling, "--scaling");
  check(!command.trace.empty(), "--trace");
  check(command.tokens != not_given, "--tokens");
  check(command.no_floor, "--no-floor");
  const auto within = [](Index value, Index least, Index most, std::string_view flag) {
    require<ConfigError>(value == not_given || (value >= least && value <= most),
                         "{} {}: it must be from {} to {}", flag, value, least, most);
  };
  within(command.repeats, 1, most_repeats, "--repeats");
  within(command.tokens, 2, most_generated, "--tokens");
}

/// What can be found wrong before anything is made.
void check_values(const BenchCommand& command, const ResolvedConfig& resolved) {
  check_model(resolved.config);
  if (!command.lengths.empty()) lengths_of(command.lengths, resolved.config);
  if (!command.encodings.empty()) configs_of(command, resolved);
  if (!command.trace.empty()) check_trace_file(command.trace);
}

int bench(const BenchCommand& command) {
  command.output.set_up_computing();
  const What& what = find_what(command.what);
  check_flags(command, what);
  const ResolvedConfig config = command.config.resolve();
  check_values(command, config);
  if (command.config.dry_run()) return dry_run(config, command.output);
  if (config.config.train.threads > 0) set_thread_count(config.config.train.threads);
  const SignalGuard signals;
  try {
    return what.run(command, config);
  } catch (const Stopped&) {
    tell_bench_stopped();
    throw;
  }
}

}  // namespace

Command bench_command() {
  const auto options = std::make_shared<BenchCommand>();
  Command command{
      .name = "bench",
      .description = "speed against the machine's own measured limit",
      .examples = {"tapeline bench step --preset toy --json",
                   fmt::format("tapeline bench step --encodings {}",
                               example_encodings({"none", "learned", "rope", "alibi"})),
                   "tapeline bench attention --lengths 512,8192 --set model.heads=2",
                   "tapeline bench gemm --preset paper", "tapeline bench evaluate --lengths 4096,65536",
                   "tapeline bench generate --tokens 512 --repeats 9"},
      .run = [options] { return bench(*options); },
      .computes = true};
  std::vector<std::string> names;
  std::string help;
  for (const What& what : all_whats()) {
    names.emplace_back(what.name);
    help += fmt::format("{}{} ({})", help.empty() ? "" : "; ", what.name, what.help);
  }
  command.options = {
      {.name = "WHAT", .help = help, .target = &options->what, .required = true, .offers = names}};
  options->config.add_without_text_to(command);
  command.options.insert(
      command.options.end(),
      {{.name = "--lengths",
        .value = "LIST",
        .help = "attention, evaluate: in tokens (4096) or trained lengths (16x)",
        .target = &options->lengths},
       {.name = "--tokens",
        .value = "N",
        .help = "generate: how many, behind a prompt; default 256",
        .target = &options->tokens},
       {.name = "--encodings",
        .value = "A,B",
        .help = "step: with each of them, side by side; all: every one",
        .target = &options->encodings,
        .offers = encoding_names(),
        .list = true},
       {.name = "--scaling",
        .help = "step: with one thread and with all, side by side",
        .target = &options->scaling,
        .excludes = "--encodings"},
       {.name = "--repeats",
        .value = "N",
        .help = "how often each is timed; default 15 (step, gemm) or 5",
        .target = &options->repeats},
       {.name = "--no-floor",
        .help = "without the products that it is held against",
        .target = &options->no_floor},
       {.name = "--trace",
        .value = "FILE",
        .help = fmt::format("step: {} of them for chrome://tracing or Perfetto", StepTrace::default_steps),
        .target = &options->trace,
        .excludes = "--scaling",
        .path = Option::Path::file}});
  command.details = {
      "Times a thing, and beside it the products of matrices and the attention that it cannot do without, "
      "alone, as fast as this machine can: the floor. The ratio of the two is what everything else costs, "
      "whatever the machine. Both take turns; times are medians, those of single ops means of the middle "
      "half. Texts and weights are made up.",
      "step: a whole training step. The table by op tells where it goes: calls, time, operations and bytes "
      "of every op, forward and backward. It comes from steps that are watched, and what watching costs "
      "stands below it. With --scaling: what several threads gain over one, and what the floor gains.",
      "attention: forward and backward of the op with the mask and the score terms of the configured "
      "encoding, in as many sequences as make 8192 tokens, also against the best of a few large products; by "
      "default at 64 to 65536 in powers of four, and unless --repeats is given a length on which a minute "
      "was spent has no further repeat.",
      "gemm: every product of a step by each library, its own threads or rows split by us, which of them the "
      "built-in rule picks, and what that costs against the fastest.",
      "evaluate: a window over the key/value cache, as the command evaluate runs it, by default of 4096 and "
      "of 16384 tokens.",
      "generate: token by token behind a prompt of train.length, as the command generate makes them; its "
      "floor reads every weight once a token."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline

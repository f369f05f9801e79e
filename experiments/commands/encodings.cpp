#include "experiments/commands/encodings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "core/error.h"
#include "core/excerpt.h"
#include "experiments/commands/common.h"
#include "experiments/encodings/listing.h"
#include "experiments/encodings/portrait.h"
#include "experiments/encodings/subject.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/report/gnuplot.h"
#include "experiments/table.h"
#include "train/checkpoint.h"
#include "train/config_derived.h"
#include "train/log.h"
#include "train/run_folder.h"

namespace tapeline {
namespace {

constexpr Index layer_not_given = -1;

struct EncodingsOptions {
  std::string name;
  ConfigOptions config;
  bool plot = false;
  std::string out, checkpoint, length;
  Index layer = layer_not_given;
  OutputOptions output;
};

/// What is drawn, and from what.
struct Sitting {
  EncodingSubject subject;
  Config config, base;  ///< with the subject in use, and as configured
  std::string note;
  Index length = 0;
};

/// Without NAME and with --plot there is nothing to draw; what belongs to a drawing is not ignored either.
void check_plot_options(const EncodingsOptions& options) {
  require<ConfigError>(
      !options.plot || !options.name.empty(),
      "encodings: --plot needs the NAME of what to draw; tapeline encodings lists the names");
  for (const auto& [given, flag] :
       {std::pair{!options.out.empty(), "--out"}, std::pair{!options.checkpoint.empty(), "--checkpoint"},
        std::pair{!options.length.empty(), "--length"},
        std::pair{options.layer != layer_not_given, "--layer"}}) {
    require<ConfigError>(!given || options.plot, "encodings: {} belongs to --plot", flag);
  }
}

Sitting arrange(const EncodingsOptions& options, const Config& base, const Config* trained) {
  Sitting sitting{.subject = find_subject(options.name), .config = {}, .base = base, .note = {}};
  const Index limit = Index{1} << 16;
  sitting.length =
      length_in_tokens(options.length.empty() ? "4x" : options.length, base.train.length, "--length");
  require<ConfigError>(sitting.length >= 2 && sitting.length <= limit,
                       "--length is {}; it must lie between 2 and {}", sitting.length, limit);
  const std::string_view kind = sitting.subject.scaling != nullptr    ? "rope"
                                : sitting.subject.encoding != nullptr ? sitting.subject.name()
                                                                      : "";
  require<ConfigError>(trained == nullptr || kind.empty() || trained->positional.uses(kind),
                       "encodings {}: the model of --checkpoint {} has positions of the kind {}",
                       options.name, options.checkpoint, base.positional.name());
  sitting.config = with_subject(base, sitting.subject, true, sitting.length, &sitting.note);
  if (trained != nullptr) require_changeable(*trained, sitting.config, "encodings " + options.name);
  require<ConfigError>(options.layer == layer_not_given ||
                           (options.layer >= 1 && options.layer <= sitting.config.model.layers),
                       "--layer is {}; the model has the layers 1 to {}", options.layer,
                       sitting.config.model.layers);
  if (options.layer != layer_not_given && !kind.empty()) {
    const std::string& found = sitting.config.positional.kind_of_layer(options.layer - 1);
    require<ConfigError>(found == kind, "encodings {}: layer {} is of the kind {}", options.name,
                         options.layer, found);
  }
  return sitting;
}

std::vector<Chart> sit(const EncodingsOptions& options, Sitting& sitting, ParameterStore* trained) {
  const auto make_view = [&](const Config& config) {
    const ModelPlan plan = model_plan(config);
    return trained != nullptr ? std::make_unique<EncodingView>(plan, *trained)
                              : std::make_unique<EncodingView>(plan);
  };
  const std::unique_ptr<EncodingView> view = make_view(sitting.config);
  const std::optional<Index> most = view->positions().max_length();
  const bool around = sitting.subject.wrapper != nullptr && sitting.subject.name() != "pattern";
  if (most && *most < sitting.length && !around) {
    if (!options.length.empty()) {
      spdlog::warn("{} positions end at {}: drawn up to there", view->positions().limited_by(), *most);
    }
    sitting.length = *most;
  }
  const std::optional<Config> plain = without_scaling(sitting.config);
  const std::unique_ptr<EncodingView> plain_view = plain ? make_view(*plain) : nullptr;
  PortraitRequest request{
      .name = options.name, .length = sitting.length, .layer = {}, .only_kind = {}, .around_only = around};
  if (options.layer != layer_not_given) request.layer = options.layer - 1;
  if (sitting.subject.encoding != nullptr) request.only_kind = options.name;
  if (sitting.subject.scaling != nullptr) request.only_kind = "rope";
  std::vector<Chart> charts = portrait(*view, plain_view.get(), request);
  require<ConfigError>(!charts.empty(), "encodings {}: no layer that is looked at has it", options.name);
  if (!sitting.note.empty()) charts.front().notes.push_back(sitting.note + ".");
  return charts;
}

std::vector<std::filesystem::path> draw_all(const std::vector<Chart>& charts,
                                            const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::vector<std::filesystem::path> paths;
  for (const Chart& chart : charts) std::ranges::copy(draw_chart(chart, folder), std::back_inserter(paths));
  return paths;
}

int plot(const EncodingsOptions& options) {
  std::optional<Checkpoint> checkpoint;
  std::unique_ptr<Transformer> model;
  std::optional<ResolvedConfig> start;
  if (!options.checkpoint.empty()) {
    require<ConfigError>(!options.config.names_preset(),
                         "encodings: --checkpoint brings its own configuration; leave --preset out");
    checkpoint.emplace(resolve_checkpoint(options.checkpoint));
    start = checkpoint->config();
    model = checkpoint->make_model();
  }
  const ResolvedConfig resolved = options.config.resolve("", start);
  Sitting sitting = arrange(options, resolved.config, start ? &start->config : nullptr);
  const std::vector<Chart> charts = sit(options, sitting, model ? &model->parameters() : nullptr);

  const std::filesystem::path folder = options.out.empty()
                                           ? std::filesystem::path("runs") / "encodings" / options.name
                                           : std::filesystem::path(options.out);
  std::vector<std::filesystem::path> paths;
  std::string missing;  // without gnuplot the numbers are written all the same
  try {
    paths = draw_all(charts, folder);
  } catch (const GnuplotError& error) {
    missing = error.what();
    for (const Chart& chart : charts) {
      write_chart_csv(chart, folder);
      paths.push_back(folder / (chart.name + ".csv"));
    }
  }
  if (options.output.json) {
    nlohmann::ordered_json json = {{"name", options.name}, {"length", sitting.length}};
    json["charts"] = nlohmann::ordered_json::array();
    for (const Chart& chart : charts) json["charts"].push_back(chart_json(chart));
    json["files"] = nlohmann::ordered_json::array();
    for (const auto& path : paths) json["files"].push_back(path.string());
    write_output(printed_json(json));
  } else {
    std::string text;
    for (const Chart& chart : charts) text += chart_text(chart, terminal_width()) + '\n';
    for (const auto& path : paths) text += path.string() + '\n';
    write_output(text);
  }
  require<GnuplotError>(missing.empty(), "{}; the numbers are in {}", missing, folder.string());
  return exit_code::done;
}

// A second name stands where a configuration would.
void check_one_name(const EncodingsOptions& options) {
  const std::string& second = options.config.file();
  std::error_code unreadable;  // a name that no file can have is none
  if (second.empty() || std::filesystem::exists(second, unreadable)) return;
  const bool is_name = std::ranges::any_of(
      all_subjects(), [&](const EncodingSubject& subject) { return subject.name() == second; });
  require<ConfigError>(!is_name,
                       "encodings: \"{}\" and \"{}\": one NAME at a time, the second word is a CONFIG file; "
                       "leave both out for a table of all",
                       excerpt(options.name), second);
}

int encodings(EncodingsOptions& options) {
  options.output.set_up();
  // One word that is a file and no name: the configuration, for the list.
  if (options.name.ends_with(".toml") && options.config.take_file(options.name)) options.name.clear();
  check_one_name(options);
  check_plot_options(options);
  if (options.plot) return plot(options);
  const std::size_t width = terminal_width();
  const Config config = options.config.resolve().config;
  if (options.name.empty()) {
    write_output(options.output.json ? printed_json(subjects_json(config)) : subjects_text(config, width));
    return exit_code::done;
  }
  const EncodingSubject subject = find_subject(options.name);
  write_output(options.output.json ? printed_json(subject_json(config, subject))
                                   : subject_text(config, subject, width));
  return exit_code::done;
}

/// What NAME may be.
std::vector<std::string> subject_names() {
  std::vector<std::string> names;
  for (const EncodingSubject& subject : all_subjects()) names.emplace_back(subject.name());
  return names;
}

}  // namespace

Command encodings_command() {
  const auto options = std::make_shared<EncodingsOptions>();
  const std::string example = example_encodings({"alibi"});
  Command command{.name = "encodings",
                  .description = "the positional encodings built in, one by one, and drawn",
                  .examples = {fmt::format("tapeline encodings {}", example),
                               fmt::format("tapeline encodings {} --plot --out figures", example)},
                  .run = [options] { return encodings(*options); }};
  command.options = {{.name = "NAME",
                      .help = "only this one, in full",
                      .target = &options->name,
                      .offers = subject_names()}};
  options->config.add_model_to(command);
  command.options.insert(
      command.options.end(),
      {{.name = "--plot",
        .help = "draw it, in the terminal and as SVG, PNG and CSV",
        .target = &options->plot},
       {.name = "--out",
        .value = "DIR",
        .help = "where the pictures go; default runs/encodings/NAME",
        .target = &options->out,
        .path = Option::Path::folder},
       {.name = "--checkpoint",
        .value = "FILE",
        .help = "draw what a trained model has: a checkpoint file, or a run folder",
        .target = &options->checkpoint,
        .path = Option::Path::file},
       {.name = "--length",
        .value = "N",
        .help = "distances and positions up to there, in tokens (512) or trained lengths; default 4x",
        .target = &options->length},
       {.name = "--layer",
        .value = "N",
        .help = "the layer to draw, counted from 1; default: the first that has it",
        .target = &options->layer}});
  command.details = {
      "Without NAME a table of the encodings in this build, one of the scalings of rope, and one of what "
      "goes around any of them: scales of the scores, windows, randomized positions. With NAME the formula, "
      "where it acts, its parameters and options, what happens past the trained length, and the paper. "
      "Parameters are counted in the model that CONFIG, --preset and --set describe.",
      "With --plot it is drawn, from what it gives to the model, whatever it is: a bias by distance and "
      "head; of rotations the wavelength of every pair against the trained length, and what is left of the "
      "product of equal vectors by distance, a scaling of rope beside plain rope; of rows that are added to "
      "the tokens, and of vectors that belong to distances, how alike and how long they are; of a scale its "
      "factor by row. The weights are those that training begins with, or those of --checkpoint."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline

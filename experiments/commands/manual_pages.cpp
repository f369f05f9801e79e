#include "experiments/commands/manual_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/command_line/help.h"
#include "train/config_table.h"
#include "train/config_text.h"
#include "train/preset.h"

namespace tapeline {
namespace {

ManualPage& exit_status(ManualPage& page) {
  return page.section("EXIT STATUS")
      .entry("0", "Done.")
      .entry("1", "Failed; one line on standard error says at what, and what to do.")
      .entry("2", "A command line or a configuration that cannot be obeyed.")
      .entry("3", "Stopped by a signal, after saving; the same command goes on (train: with --resume).")
      .entry("4", "A check that was asked for did not hold.");
}

std::string source_of(const Program& program) { return fmt::format("{} {}", program.name, program.version); }

std::string page_of(const Program& program, const Command& command) {
  return fmt::format("{}-{}(1)", program.name, command.name);
}

ManualPage program_page(const Program& program) {
  ManualPage page(program.name, 1, source_of(program),
                  "measures how far past its training length a Transformer still works");
  page.section("SYNOPSIS").bold_line(fmt::format("{} [COMMAND] [OPTIONS]", program.name));
  page.section("DESCRIPTION")
      .paragraph(
          "Small language models are trained on short windows of a text and evaluated on long ones; what "
          "differs between them is how they know the position of a token. A comparison ends with a table and "
          "a report: which encoding works past its training length, how far, and how sure that is.");
  page.section("COMMANDS");
  for (const Command& command : program.commands) page.entry(command.name, command.description);
  exit_status(page);
  page.section("ENVIRONMENT")
      .entry("TAPELINE_SECTION__KEY",
             "A key of the configuration, as in TAPELINE_MODEL__WIDTH=256; two underscores stand for the "
             "dot. Weaker than --set, stronger than a file.")
      .entry("NO_COLOR", "When not empty: no colour on a terminal either.")
      .entry("XDG_CACHE_HOME",
             "Where texts are kept as tokens; default ~/.cache. They may be removed at any time.");
  page.section("FILES").entry("runs/NAME",
                              "The folder of a run or a comparison when --out is not given: config.toml, "
                              "checkpoints/, metrics.jsonl; of a comparison also its results and report.");
  page.section("EXAMPLES").verbatim({program.example});
  std::vector<std::string> others;
  for (const Command& command : program.commands) others.push_back(page_of(program, command));
  others.push_back(program.name + "-config(5)");
  return page.see_also(others);
}

ManualPage command_page(const Program& program, const Command& command) {
  ManualPage page(fmt::format("{}-{}", program.name, command.name), 1, source_of(program),
                  command.description);
  page.section("SYNOPSIS").bold_line(usage_line(program, command));
  if (!command.details.empty()) page.section("DESCRIPTION");
  for (const std::string& paragraph : command.details) page.paragraph(paragraph);
  page.section("OPTIONS");
  for (const Option& option : command.options) page.entry(option_form(option), option.help);
  page.entry("-h, --help", "Show a summary of this page.");
  exit_status(page);
  page.section("EXAMPLES").verbatim(command.examples);
  return page.see_also({program.name + "(1)", program.name + "-config(5)"});
}

ManualPage config_page(const Program& program) {
  ManualPage page(program.name + "-config", 5, source_of(program), "the keys of a configuration");
  page.section("DESCRIPTION")
      .paragraph(
          "A configuration is a TOML file that compare, train and bench take; it need name only the keys "
          "that differ from the preset. The stronger comes last: built-in default, preset, file, "
          "environment, --set KEY=VALUE, an option of its own (--seed). --dry-run prints every key with its "
          "value and where that came from.");
  page.section("PRESETS");
  for (const Preset& preset : presets()) page.entry(preset.name, preset.aim);
  std::string section;
  for (const ConfigKey& key : config_keys()) {
    const std::string begins = key.name.substr(0, key.name.find('.'));
    if (begins != section) page.section(fmt::format("[{}]", begins));
    section = begins;
    std::string text = fmt::format("{} (default {}", key.help, value_text(key, key.initial));
    if (!key.choices.empty()) text += fmt::format("; one of {}", fmt::join(key.choices, ", "));
    if (!key.range.expected.empty()) text += fmt::format("; {}", key.range.expected);
    page.entry(key.name, text + (key.after_training ? "; can be changed after training)" : ")"));
  }
  page.section("[[compare.variant]]")
      .paragraph(
          "A model that compare trains, as often as wanted; with one of these compare.encodings has no "
          "default any more.")
      .entry("name", "Unique, also among the evaluations; the name of its folder.")
      .entry("positional, model, optimizer, ...", "The keys that this variant changes.");
  page.section("[[compare.evaluation]]")
      .paragraph(
          "An evaluation of trained models under other positional settings, at every length and for every "
          "seed, beside that of the models as they were trained. Of the probes it has those that follow from "
          "its losses (residual, in_context).")
      .entry("name", "Unique; the column evaluation of results.csv, and behind the comma in \"rope, ntk\".")
      .entry("of",
             "The name of a variant, or a list of names; left out: every variant whose encoding has the keys "
             "that are changed.")
      .entry("positional",
             "The keys that this evaluation changes: those that can be changed after training.");
  page.section("EXAMPLES")
      .verbatim({"[model]", "width = 256", "layers = 6", "", "[positional]", "kind = \"alibi\"", "",
                 "[train]", "length = 128", "", "[[compare.evaluation]]", "name = \"near\"",
                 "positional = {keys = {window = 64}}"});
  return page.see_also({program.name + "(1)", program.name + "-train(1)", program.name + "-compare(1)"});
}

}  // namespace

std::vector<ManualPage> manual_pages(const Program& program) {
  std::vector<ManualPage> pages = {program_page(program)};
  for (const Command& command : program.commands) pages.push_back(command_page(program, command));
  pages.push_back(config_page(program));
  return pages;
}

}  // namespace tapeline

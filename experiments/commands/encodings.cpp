#include "experiments/commands/encodings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/commands/common.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/table.h"
#include "layers/positional/registry.h"
#include "train/config_table.h"
#include "train/config_text.h"

namespace tapeline {
namespace {

struct EncodingsOptions {
  std::string name;
  OutputOptions output;
};

/// The keys of the config that belong to this kind, and those that every kind takes.
std::vector<const ConfigKey*> keys_of(const EncodingKind& kind) {
  std::vector<const ConfigKey*> keys;
  for (const OptionField& field : kind.options) {
    keys.push_back(find_config_key(fmt::format("positional.{}.{}", kind.name, field.name)));
  }
  for (const ConfigKey& key : config_keys()) {
    if (key.name.starts_with("positional.keys.")) keys.push_back(&key);
  }
  return keys;
}

nlohmann::ordered_json to_json(const EncodingKind& kind) {
  nlohmann::ordered_json json = {
      {"name", kind.name},       {"title", kind.title},           {"formula", kind.formula},
      {"acts_on", kind.acts_on}, {"parameters", kind.parameters}, {"beyond", kind.beyond},
      {"paper", kind.paper}};
  json["options"] = nlohmann::ordered_json::array();
  for (const ConfigKey* key : keys_of(kind)) {
    nlohmann::ordered_json option = {{"key", key->name}, {"type", describe_type(*key)}, {"help", key->help}};
    std::visit([&](const auto& value) { option["default"] = value; }, key->initial);
    if (!key->choices.empty()) option["choices"] = key->choices;
    json["options"].push_back(std::move(option));
  }
  return json;
}

std::string detail(const EncodingKind& kind, std::size_t width) {
  std::string text = fmt::format("{}: {}\n\n", kind.name, kind.title);
  const auto line = [&](std::string_view label, std::string_view value) {
    constexpr std::size_t margin = 18;
    const std::size_t room = width == 0 ? 0 : width - std::min<std::size_t>(width - 20, margin);
    text += hanging(fmt::format("  {:<{}}", label, margin - 2), margin, value, room);
  };
  line("formula", kind.formula);
  line("acts on", kind.acts_on);
  line("parameters", kind.parameters);
  line("past L", kind.beyond);
  line("paper", kind.paper);
  text += kind.options.empty() ? "\nIt has no options of its own; every kind takes:\n" : "";
  Table table;
  table.column("option", Table::Align::left).column("default", Table::Align::left);
  table.column("meaning", Table::Align::left);
  for (const ConfigKey* key : keys_of(kind)) {
    const std::string choices =
        key->choices.empty() ? "" : fmt::format(" ({})", fmt::join(key->choices, ", "));
    table.row({key->name, value_text(*key, key->initial), key->help + choices});
  }
  return text + "\n" + table.text(width);
}

std::string overview(std::size_t width) {
  Table table;
  table.column("name", Table::Align::left).column("acts on", Table::Align::left);
  table.column("parameters", Table::Align::left).column("past the trained length", Table::Align::left);
  for (const EncodingKind& kind : encoding_kinds()) {
    table.row({std::string(kind.name), std::string(kind.acts_on), std::string(kind.parameters),
               std::string(kind.beyond)});
  }
  return table.text(width) + "\nOne in full, with its options: tapeline encodings NAME\n";
}

int encodings(const EncodingsOptions& options) {
  options.output.set_up();
  if (options.output.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const EncodingKind& kind : encoding_kinds()) {
      if (options.name.empty() || options.name == kind.name) json.push_back(to_json(kind));
    }
    if (!options.name.empty()) json = to_json(encoding_kind(options.name));
    write_output(printed_json(json));
  } else if (options.name.empty()) {
    write_output(overview(terminal_width()));
  } else {
    write_output(detail(encoding_kind(options.name), terminal_width()));
  }
  return exit_code::done;
}

}  // namespace

Command encodings_command() {
  const auto options = std::make_shared<EncodingsOptions>();
  Command command{.name = "encodings",
                  .description = "the positional encodings built in, one by one",
                  .examples = {fmt::format("tapeline encodings {}", example_encodings({"alibi"}))},
                  .run = [options] { return encodings(*options); }};
  command.options = {{.name = "NAME",
                      .help = "only this one, in full",
                      .target = &options->name,
                      .offers = encoding_names()}};
  command.details = {
      "Without NAME a table of the encodings in this build; with NAME the formula, where it acts, its "
      "parameters and options, what happens past the trained length, and the paper."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline

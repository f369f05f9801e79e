#include "experiments/commands/encodings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/commands/common.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/table.h"
#include "layers/positional/registry.h"
#include "layers/positional/wrappers.h"
#include "train/config_table.h"
#include "train/config_text.h"

namespace tapeline {
namespace {

struct EncodingsOptions {
  std::string name;
  OutputOptions output;
};

/// The keys of the config that set this wrapper.
std::vector<const ConfigKey*> keys_of(const WrapperKind& wrapper) {
  std::vector<const ConfigKey*> keys;
  for (const std::string_view key : wrapper.keys) keys.push_back(find_config_key(key));
  return keys;
}

/// The keys of the config that belong to this kind, and those that every kind takes.
std::vector<const ConfigKey*> keys_of(const EncodingKind& kind) {
  std::vector<const ConfigKey*> keys;
  for (const OptionField& field : kind.options) {
    keys.push_back(find_config_key(fmt::format("positional.{}.{}", kind.name, field.name)));
  }
  for (const WrapperKind& wrapper : wrapper_kinds()) {
    for (const ConfigKey* key : keys_of(wrapper)) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

std::string_view role(const EncodingKind&) { return "encoding"; }
std::string_view role(const WrapperKind&) { return "wrapper"; }

template <class Kind>
nlohmann::ordered_json to_json(const Kind& kind) {
  nlohmann::ordered_json json = {{"name", kind.name},       {"role", role(kind)},
                                 {"title", kind.title},     {"formula", kind.formula},
                                 {"acts_on", kind.acts_on}, {"parameters", kind.parameters},
                                 {"beyond", kind.beyond},   {"paper", kind.paper}};
  json["options"] = nlohmann::ordered_json::array();
  for (const ConfigKey* key : keys_of(kind)) {
    nlohmann::ordered_json option = {{"key", key->name}, {"type", describe_type(*key)}, {"help", key->help}};
    std::visit([&](const auto& value) { option["default"] = value; }, key->initial);
    if (key->notation == Notation::automatic && key->initial == OptionValue(Index{0})) {
      option["default"] = "auto";
    }
    if (!key->choices.empty()) option["choices"] = key->choices;
    json["options"].push_back(std::move(option));
  }
  return json;
}

std::string before_options(const EncodingKind& kind) {
  return kind.options.empty() ? "\nIt has no options of its own; every kind takes:\n" : "";
}
std::string before_options(const WrapperKind&) { return "\nIt goes around any encoding, by:\n"; }

template <class Kind>
std::string detail(const Kind& kind, std::size_t width) {
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
  text += before_options(kind);
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

template <class Kind>
std::string overview(std::span<const Kind> kinds, std::string_view first, std::size_t width) {
  Table table;
  table.column(std::string(first), Table::Align::left).column("acts on", Table::Align::left);
  table.column("parameters", Table::Align::left).column("past the trained length", Table::Align::left);
  for (const Kind& kind : kinds) {
    table.row({std::string(kind.name), std::string(kind.acts_on), std::string(kind.parameters),
               std::string(kind.beyond)});
  }
  return table.text(width);
}

/// The wrapper of that name; nullptr: none.
const WrapperKind* find_wrapper(std::string_view name) {
  const std::span<const WrapperKind> kinds = wrapper_kinds();
  const auto found = std::ranges::find(kinds, name, &WrapperKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

nlohmann::ordered_json all_json() {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const EncodingKind& kind : encoding_kinds()) json.push_back(to_json(kind));
  for (const WrapperKind& kind : wrapper_kinds()) json.push_back(to_json(kind));
  return json;
}

int encodings(const EncodingsOptions& options) {
  options.output.set_up();
  const std::size_t width = terminal_width();
  if (options.name.empty()) {
    write_output(options.output.json ? printed_json(all_json())
                                     : overview(encoding_kinds(), "name", width) + '\n' +
                                           overview(wrapper_kinds(), "around any", width) +
                                           "\nOne in full, with its options: tapeline encodings NAME\n");
  } else if (const WrapperKind* wrapper = find_wrapper(options.name)) {
    write_output(options.output.json ? printed_json(to_json(*wrapper)) : detail(*wrapper, width));
  } else {
    const EncodingKind& kind = encoding_kind(options.name);
    write_output(options.output.json ? printed_json(to_json(kind)) : detail(kind, width));
  }
  return exit_code::done;
}

/// What NAME may be.
std::vector<std::string> all_names() {
  std::vector<std::string> names = encoding_names();
  for (const WrapperKind& kind : wrapper_kinds()) names.emplace_back(kind.name);
  return names;
}

}  // namespace

Command encodings_command() {
  const auto options = std::make_shared<EncodingsOptions>();
  Command command{.name = "encodings",
                  .description = "the positional encodings built in, one by one",
                  .examples = {fmt::format("tapeline encodings {}", example_encodings({"alibi"}))},
                  .run = [options] { return encodings(*options); }};
  command.options = {
      {.name = "NAME", .help = "only this one, in full", .target = &options->name, .offers = all_names()}};
  command.details = {
      "Without NAME a table of the encodings in this build, and one of what goes around any of them: scales "
      "of "
      "the scores, windows, randomized positions. With NAME the formula, where it acts, its parameters and "
      "options, what happens past the trained length, and the paper."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline

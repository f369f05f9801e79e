#include "experiments/encodings/listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/counted.h"
#include "experiments/encodings/scalings.h"
#include "experiments/report/tables.h"
#include "experiments/table.h"
#include "train/config_table.h"
#include "train/config_text.h"

namespace tapeline {
namespace {

template <class Row>
void add_keys(std::vector<const ConfigKey*>& keys, const Row& row) {
  for (const std::string_view name : row.keys) {
    const ConfigKey* key = find_config_key(name);
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
}

/// The keys of the config that set it; of an encoding its own, and those that every kind takes.
std::vector<const ConfigKey*> keys_of(const EncodingSubject& subject) {
  std::vector<const ConfigKey*> keys;
  if (subject.scaling != nullptr) add_keys(keys, *subject.scaling);
  if (subject.wrapper != nullptr) add_keys(keys, *subject.wrapper);
  if (subject.encoding == nullptr) return keys;
  for (const OptionField& field : subject.encoding->options) {
    keys.push_back(find_config_key(fmt::format("positional.{}.{}", subject.encoding->name, field.name)));
  }
  for (const WrapperKind& wrapper : wrapper_kinds()) add_keys(keys, wrapper);
  return keys;
}

/// What a reader wants to know, whatever the row is of.
struct Words {
  std::string_view title, formula, acts_on, parameters, beyond, paper;
};
Words words_of(const EncodingSubject& subject) {
  const auto words = [](const auto& row) {
    return Words{row.title, row.formula, row.acts_on, row.parameters, row.beyond, row.paper};
  };
  return subject.encoding != nullptr  ? words(*subject.encoding)
         : subject.scaling != nullptr ? words(*subject.scaling)
                                      : words(*subject.wrapper);
}

std::string own_count_text(const SubjectCount& count) {
  return count.refusal.empty() ? number_text(count.own) : "–";
}

std::string model_name(const Config& config) {
  return fmt::format("{} of width {}, {}, trained at {}", counted(config.model.layers, "layer"),
                     config.model.width, counted(config.model.heads, "head"), config.train.length);
}

std::string before_options(const EncodingSubject& subject) {
  if (subject.wrapper != nullptr) return "\nIt goes around any encoding, by:\n";
  if (subject.scaling != nullptr) return "\nIt scales the encoding rope, by:\n";
  return subject.encoding->options.empty() ? "\nIt has no options of its own; every kind takes:\n" : "";
}

/// Of one role. A terminal that has no room for them does without what the parameters are: their number is
/// there, and the words stand with each one in full.
std::string role_table(const Config& config, std::string_view role, std::string_view first, std::size_t width,
                       std::vector<std::string>& refusals) {
  constexpr std::size_t room_for_all = 140;
  const bool all = width == 0 || width >= room_for_all;
  Table table;
  table.column(std::string(first), Table::Align::left).column("acts on", Table::Align::left);
  if (all) table.column("parameters", Table::Align::left);
  table.column(all ? "here" : "parameters").column("past the trained length", Table::Align::left);
  bool any = false;
  for (const EncodingSubject& subject : all_subjects()) {
    if (subject.role() != role) continue;
    const Words words = words_of(subject);
    const SubjectCount count = count_subject(config, subject);
    if (!count.refusal.empty()) refusals.push_back(fmt::format("{}: {}", subject.name(), count.refusal));
    std::vector<std::string> cells = {std::string(subject.name()), std::string(words.acts_on)};
    if (all) cells.emplace_back(words.parameters);
    cells.push_back(own_count_text(count));
    cells.emplace_back(words.beyond);
    table.row(std::move(cells));
    any = true;
  }
  return any ? table.text(width) + '\n' : std::string();
}

}  // namespace

std::string subjects_text(const Config& config, std::size_t width) {
  std::vector<std::string> refusals;
  std::string text = role_table(config, "encoding", "encoding", width, refusals) +
                     role_table(config, "scaling", "of rope", width, refusals) +
                     role_table(config, "wrapper", "around any", width, refusals);
  const auto line = [&](const std::string& words) { text += hanging("", 0, words, width); };
  line(fmt::format("Parameters are counted in the configured model: {}.", model_name(config)));
  for (const std::string& refusal : refusals) line(fmt::format("No such model: {}", refusal));
  line("One in full, with its options: tapeline encodings NAME; drawn: tapeline encodings NAME --plot");
  return text;
}

std::string subject_text(const Config& config, const EncodingSubject& subject, std::size_t width) {
  const Words words = words_of(subject);
  std::string text = fmt::format("{}: {}\n\n", subject.name(), words.title);
  const auto line = [&](std::string_view label, std::string_view value) {
    constexpr std::size_t margin = 18;
    const std::size_t room = width == 0 ? 0 : width - std::min<std::size_t>(width - 20, margin);
    text += hanging(fmt::format("  {:<{}}", label, margin - 2), margin, value, room);
  };
  const SubjectCount count = count_subject(config, subject);
  line("formula", words.formula);
  line("acts on", words.acts_on);
  line("parameters", words.parameters);
  line("count", count.refusal.empty() ? fmt::format("{} of the {} of a model of {}", number_text(count.own),
                                                    number_text(count.model), model_name(config))
                                      : fmt::format("there is no such model: {}", count.refusal));
  line("past L", words.beyond);
  line("paper", words.paper);
  text += before_options(subject);
  Table table;
  table.column("option", Table::Align::left).column("default", Table::Align::left);
  table.column("meaning", Table::Align::left);
  for (const ConfigKey* key : keys_of(subject)) {
    const std::string choices =
        key->choices.empty() ? "" : fmt::format(" ({})", fmt::join(key->choices, ", "));
    table.row({key->name, value_text(*key, key->initial), key->help + choices});
  }
  return text + "\n" + table.text(width);
}

nlohmann::ordered_json subject_json(const Config& config, const EncodingSubject& subject) {
  const Words words = words_of(subject);
  const SubjectCount count = count_subject(config, subject);
  nlohmann::ordered_json json = {{"name", subject.name()},   {"role", subject.role()},
                                 {"title", words.title},     {"formula", words.formula},
                                 {"acts_on", words.acts_on}, {"parameters", words.parameters},
                                 {"count", nullptr},         {"model_parameters", nullptr},
                                 {"beyond", words.beyond},   {"paper", words.paper}};
  if (count.refusal.empty()) {
    json["count"] = count.own;
    json["model_parameters"] = count.model;
  } else {
    json["refusal"] = count.refusal;
  }
  json["options"] = nlohmann::ordered_json::array();
  for (const ConfigKey* key : keys_of(subject)) {
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

nlohmann::ordered_json subjects_json(const Config& config) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const EncodingSubject& subject : all_subjects()) json.push_back(subject_json(config, subject));
  return json;
}

}  // namespace tapeline

#include "layers/option.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "core/excerpt.h"
#include "layers/positional/number_text.h"

namespace tapeline {

namespace {

constexpr std::string_view type_names[] = {"true or false", "a whole number",  "a number",
                                           "a text",        "a list of texts", "a list of numbers"};

std::string allowed(const OptionField& field) {
  if (field.choices.empty()) return std::string(type_names[field.initial.index()]);
  return fmt::format("{}{}{}", field.choices.size() > 1 ? "one of " : "", fmt::join(field.choices, ", "),
                     field.number_too ? ", or a number" : "");
}

template <class T>
const T& get(const OptionValues& values, std::string_view name) {
  const T* value = std::get_if<T>(&values[name]);
  require<StateError>(value != nullptr, "option \"{}\" was read as another type than it has", name);
  return *value;
}

}  // namespace

std::string option_text(const OptionValue& value) {
  struct Show {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(Index v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(const std::string& v) const { return fmt::format("\"{}\"", v); }
    std::string operator()(const std::vector<std::string>& v) const { return fmt::format("{}", v); }
    std::string operator()(const std::vector<double>& v) const { return fmt::format("{}", v); }
  };
  return std::visit(Show{}, value);
}

OptionValue checked_option(const OptionField& field, const OptionValue& value, std::string_view path) {
  OptionValue kept = value;
  const Index* whole = std::get_if<Index>(&value);
  const double* number = std::get_if<double>(&value);
  const bool wants_text = std::holds_alternative<std::string>(field.initial);
  if (std::holds_alternative<double>(field.initial) && whole != nullptr) {
    kept = static_cast<double>(*whole);
  } else if (wants_text && field.number_too && (whole != nullptr || number != nullptr)) {
    return whole != nullptr ? fmt::format("{}", *whole) : fmt::format("{}", *number);
  }
  require<ConfigError>(kept.index() == field.initial.index(), "{} = {}; it takes {}", path,
                       excerpt(option_text(value)), allowed(field));
  const std::string* text = std::get_if<std::string>(&kept);
  if (text == nullptr || field.choices.empty()) return kept;
  bool known = std::find(field.choices.begin(), field.choices.end(), *text) != field.choices.end();
  // The text of a number, from a file written by this program.
  known = known || (field.number_too && number_of_text(*text).has_value());
  require<ConfigError>(known, "{} = {}; it takes {}", path, excerpt(option_text(value)), allowed(field));
  return kept;
}

OptionValues::OptionValues(const std::vector<OptionField>& fields) {
  for (const OptionField& field : fields) values_.emplace(field.name, field.initial);
}

bool OptionValues::flag(std::string_view name) const { return get<bool>(*this, name); }

Index OptionValues::integer(std::string_view name) const { return get<Index>(*this, name); }

double OptionValues::number(std::string_view name) const {
  if (const Index* whole = std::get_if<Index>(&(*this)[name])) return static_cast<double>(*whole);
  return get<double>(*this, name);
}

const std::string& OptionValues::text(std::string_view name) const { return get<std::string>(*this, name); }

const std::vector<double>& OptionValues::numbers(std::string_view name) const {
  return get<std::vector<double>>(*this, name);
}

const OptionValue& OptionValues::operator[](std::string_view name) const {
  const auto found = values_.find(name);
  require<StateError>(found != values_.end(), "there is no option \"{}\"", name);
  return found->second;
}

void OptionValues::set(std::string_view name, OptionValue value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

}  // namespace tapeline

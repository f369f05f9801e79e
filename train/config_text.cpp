#include "train/config_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tapeline {
namespace {

bool all_digits(std::string_view text) {
  // A leading zero is no TOML number.
  return !text.empty() && (text.size() == 1 || text.front() != '0') && text.size() < 19 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Writes one value of one key.
struct Writer {
  const ConfigKey& key;
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(Index number) const {
    return number == 0 && key.notation == Notation::automatic ? "\"auto\"" : fmt::format("{}", number);
  }
  std::string operator()(double number) const { return number_text(number); }
  std::string operator()(const std::string& text) const {
    return key.notation == Notation::length && all_digits(text) ? text : toml_string(text);
  }
  std::string operator()(const std::vector<std::string>& texts) const { return list(texts); }
  std::string operator()(const std::vector<double>& numbers) const { return list(numbers); }
  template <class Element>
  std::string list(const std::vector<Element>& elements) const {
    std::vector<std::string> texts;
    for (const Element& element : elements) texts.push_back((*this)(element));
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
};

}  // namespace

std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";  // "nan" and "inf" have an n
  return text;
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string value_text(const ConfigKey& key, const OptionValue& value) {
  return std::visit(Writer{key}, value);
}

}  // namespace tapeline

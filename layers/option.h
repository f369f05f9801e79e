#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// The value of one configuration key.
using OptionValue =
    std::variant<bool, Index, double, std::string, std::vector<std::string>, std::vector<double>>;

/// One key that an encoding (or any other part) understands: its name, what it is when nothing is said, which
/// texts are allowed, what it means. The type is that of the initial value.
struct OptionField {
  std::string name;
  OptionValue initial;
  std::string help;
  std::vector<std::string> choices = {};  ///< empty: any value of the type
  bool number_too = false;                ///< one of the choices, or a number, kept as its text ("0.5")
  /// Whether a trained model may be run with another value: one that no weight stands for and that the
  /// weights do not take for granted.
  bool after_training = false;
};

/// `value` as the field keeps it: a whole number serves for a number, a number for a text where the field
/// allows that. Throws ConfigError naming `path` (the key in full), what was found and what is allowed.
OptionValue checked_option(const OptionField& field, const OptionValue& value, std::string_view path);

/// The value as one would write it: `"auto"`, `[1, 2.5]`.
std::string option_text(const OptionValue& value);

/// The values of one table of options, every field present. Reading a name or type that the fields do not
/// have is a mistake of ours and throws StateError.
class OptionValues {
 public:
  OptionValues() = default;
  explicit OptionValues(const std::vector<OptionField>& fields);

  bool flag(std::string_view name) const;
  Index integer(std::string_view name) const;
  double number(std::string_view name) const;  ///< integers too
  const std::string& text(std::string_view name) const;
  const std::vector<double>& numbers(std::string_view name) const;

  const OptionValue& operator[](std::string_view name) const;
  /// Any value under any name; see checked_option.
  void set(std::string_view name, OptionValue value);
  const std::map<std::string, OptionValue, std::less<>>& all() const { return values_; }

 private:
  std::map<std::string, OptionValue, std::less<>> values_;
};

}  // namespace tapeline

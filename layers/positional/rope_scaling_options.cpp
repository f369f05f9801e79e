#include "layers/positional/rope_scaling_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/excerpt.h"
#include "layers/positional/number_text.h"

namespace tapeline {

namespace {

using Kind = RopeScalingKind;

constexpr std::string_view kind_names[] = {"none",         "linear", "ntk",    "dynamic_ntk",
                                           "ntk_by_parts", "yarn",   "llama3", "longrope"};

std::string_view name_of(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

/// One key and the scalings that look at it.
struct ScalingOption {
  OptionField field;
  std::vector<Kind> scalings;
};

OptionField automatic(std::string name, std::string help) {
  return {.name = std::move(name),
          .initial = std::string("auto"),
          .help = std::move(help),
          .choices = {"auto"},
          .number_too = true};
}

OptionField number(std::string name, double initial, std::string help) {
  return {.name = std::move(name), .initial = initial, .help = std::move(help)};
}

OptionField list(std::string name, std::string help) {
  return {.name = std::move(name), .initial = std::vector<double>{}, .help = std::move(help)};
}

const std::vector<ScalingOption>& scaling_options() {
  static const std::vector<ScalingOption> options = {
      {automatic("factor",
                 "how many times longer than trained, at least 1; auto: the length of each context over the "
                 "original length"),
       {Kind::linear, Kind::ntk, Kind::ntk_by_parts, Kind::yarn, Kind::llama3, Kind::longrope}},
      {automatic("original_length", "the length that the frequencies were trained at; auto: train.length"),
       {Kind::linear, Kind::ntk, Kind::dynamic_ntk, Kind::ntk_by_parts, Kind::yarn, Kind::llama3,
        Kind::longrope}},
      {automatic("alpha",
                 "dynamic_ntk: how much faster than the length the factor grows; ntk_by_parts: up to so many "
                 "turns in the original length a frequency is divided by the whole factor; auto: 1"),
       {Kind::dynamic_ntk, Kind::ntk_by_parts}},
      {automatic("beta",
                 "ntk_by_parts: from so many turns on a frequency stays; auto: an eighth of the original "
                 "length, at most 32"),
       {Kind::ntk_by_parts}},
      {number("beta_fast", 32, "yarn: from so many turns on a frequency stays"), {Kind::yarn}},
      {number("beta_slow", 1, "yarn: up to so many turns a frequency is divided by the whole factor"),
       {Kind::yarn}},
      {{.name = "truncate", .initial = true, .help = "yarn: the ramp begins and ends at whole pairs"},
       {Kind::yarn}},
      {number("attention_factor", 1,
              "yarn: cosines and sines are multiplied by it and by 0.1 ln(factor) + 1"),
       {Kind::yarn}},
      {number("low", 1, "llama3: up to so many turns a frequency is divided by the whole factor"),
       {Kind::llama3}},
      {number("high", 4, "llama3: from so many turns on a frequency stays"), {Kind::llama3}},
      {list(
           "long_factors",
           "longrope: what each pair's frequency is divided by in contexts above the original length, from 1 "
           "on and never falling"),
       {Kind::longrope}},
      {list("short_factors", "longrope: the same up to the original length; [] divides by 1"),
       {Kind::longrope}},
      {{.name = "keep_first", .initial = Index{0}, .help = "longrope: first positions that are not scaled"},
       {Kind::longrope}},
  };
  return options;
}

std::string path_of(std::string_view name) { return fmt::format("positional.rope.{}", name); }

/// The number that a text holds; `otherwise` for "auto".
double number_of(const OptionValues& options, std::string_view name, double otherwise) {
  return number_or_word(path_of(name), options.text(name)).value_or(otherwise);
}

void refuse_unused(const OptionValues& options, Kind kind) {
  for (const ScalingOption& option : scaling_options()) {
    const std::string& name = option.field.name;
    if (std::ranges::find(option.scalings, kind) != option.scalings.end()) continue;
    if (options[name] == option.field.initial) continue;
    std::vector<std::string_view> names;
    for (const Kind one : option.scalings) names.push_back(name_of(one));
    fail<ConfigError>(
        "{} = {} does nothing with positional.rope.scaling = \"{}\"; it belongs to {}: choose that scaling, "
        "or "
        "leave it at {}",
        path_of(name), excerpt(option_text(options[name])), name_of(kind), fmt::join(names, ", "),
        option_text(option.field.initial));
  }
}

double read_original_length(const OptionValues& options, Index train_length) {
  const double length = number_of(options, "original_length", static_cast<double>(train_length));
  require<ConfigError>(length >= 2 && length == std::floor(length),
                       "positional.rope.original_length = {} with train.length {}; a scaling needs a whole "
                       "number of at least 2",
                       options.text("original_length"), train_length);
  return length;
}

std::optional<double> read_factor(const OptionValues& options) {
  if (options.text("factor") == "auto") return std::nullopt;
  const double factor = number_of(options, "factor", 1);
  require<ConfigError>(factor >= 1, "positional.rope.factor = {}; it must be auto or at least 1", factor);
  return factor;
}

std::vector<double> read_factors(const OptionValues& options, std::string_view name, Index pairs,
                                 std::optional<double> extension) {
  const std::vector<double>& factors = options.numbers(name);
  require<ConfigError>(static_cast<Index>(factors.size()) == pairs || factors.empty(),
                       "{} has {} numbers; the rotated part of a head has {} pairs, and needs one for each",
                       path_of(name), factors.size(), pairs);
  double before = 1;
  for (std::size_t p = 0; p < factors.size(); ++p) {
    const double factor = factors[p];
    require<ConfigError>(std::isfinite(factor) && factor >= 1, "{}: number {} is {}; each must be at least 1",
                         path_of(name), p + 1, factor);
    require<ConfigError>(factor >= before, "{}: number {} is {} after {}; they must never fall",
                         path_of(name), p + 1, factor, before);
    require<ConfigError>(!extension || factor <= 1 + *extension,
                         "{}: number {} is {}; with positional.rope.factor = {} each must be at most {}",
                         path_of(name), p + 1, factor, extension.value_or(0), 1 + extension.value_or(0));
    before = factor;
  }
  return factors;
}

/// Two numbers of turns between which a ramp rises.
void require_ramp(std::string_view begin_name, double begin, std::string_view end_name, double end,
                  bool zero_too) {
  const bool right =
      std::isfinite(begin) && std::isfinite(end) && begin <= end && (zero_too ? begin >= 0 : begin > 0);
  require<ConfigError>(right, "{} = {} and {} = {}; turns {} 0, the second not below the first, are expected",
                       path_of(begin_name), begin, path_of(end_name), end, zero_too ? "from" : "above");
}

}  // namespace

std::vector<OptionField> rope_scaling_fields() {
  std::vector<OptionField> fields = {{.name = "scaling",
                                      .initial = std::string("none"),
                                      .help = "how the frequencies change for lengths past the trained one",
                                      .choices = {std::begin(kind_names), std::end(kind_names)}}};
  for (const ScalingOption& option : scaling_options()) fields.push_back(option.field);
  for (OptionField& field : fields) field.after_training = true;
  return fields;
}

std::vector<std::string_view> options_of_scaling(std::string_view scaling) {
  std::vector<std::string_view> names;
  for (const ScalingOption& option : scaling_options()) {
    const bool its_own =
        std::ranges::any_of(option.scalings, [&](Kind kind) { return name_of(kind) == scaling; });
    if (its_own) names.push_back(option.field.name);
  }
  return names;
}

RopeScaling read_rope_scaling(const OptionValues& options, Index train_length, Index pairs) {
  RopeScaling scaling;
  const auto chosen = std::ranges::find(kind_names, options.text("scaling"));
  scaling.kind = static_cast<Kind>(chosen - std::begin(kind_names));
  refuse_unused(options, scaling.kind);
  if (scaling.kind == Kind::none) return scaling;

  scaling.original_length = read_original_length(options, train_length);
  scaling.factor = read_factor(options);
  scaling.alpha = number_of(options, "alpha", 1);
  scaling.beta = number_of(options, "beta", automatic_beta(scaling.alpha, scaling.original_length));
  scaling.beta_fast = options.number("beta_fast");
  scaling.beta_slow = options.number("beta_slow");
  scaling.truncate = options.flag("truncate");
  scaling.attention_factor = options.number("attention_factor");
  scaling.low = options.number("low");
  scaling.high = options.number("high");
  scaling.long_factors = read_factors(options, "long_factors", pairs, scaling.factor);
  scaling.short_factors = read_factors(options, "short_factors", pairs, scaling.factor);
  scaling.keep_first = options.integer("keep_first");

  switch (scaling.kind) {
    case Kind::dynamic_ntk:
      require<ConfigError>(scaling.alpha > 0,
                           "positional.rope.alpha = {}; with dynamic_ntk it must be above 0", scaling.alpha);
      [[fallthrough]];
    case Kind::ntk:
      require<ConfigError>(
          pairs > 1,
          "positional.rope.scaling = \"{}\" keeps the fastest pair and slows the others, but "
          "a head here rotates only 2 features; at least 4 are needed",
          name_of(scaling.kind));
      break;
    case Kind::ntk_by_parts:
      require_ramp("alpha", scaling.alpha, "beta", scaling.beta, true);
      break;
    case Kind::yarn:
      require_ramp("beta_slow", scaling.beta_slow, "beta_fast", scaling.beta_fast, false);
      require<ConfigError>(scaling.attention_factor > 0 && std::isfinite(scaling.attention_factor),
                           "positional.rope.attention_factor = {}; it must be above 0",
                           scaling.attention_factor);
      break;
    case Kind::llama3:
      require_ramp("low", scaling.low, "high", scaling.high, true);
      break;
    case Kind::longrope:
      require<ConfigError>(!scaling.long_factors.empty(),
                           "positional.rope.scaling = \"longrope\" needs positional.rope.long_factors, {} "
                           "numbers; tapeline longrope searches them",
                           pairs);
      require<ConfigError>(scaling.keep_first >= 0, "positional.rope.keep_first = {}; it must be at least 0",
                           scaling.keep_first);
      break;
    default:
      break;
  }
  return scaling;
}

}  // namespace tapeline

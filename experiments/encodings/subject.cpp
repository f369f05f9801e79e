#include "experiments/encodings/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "core/excerpt.h"
#include "experiments/encodings/scalings.h"
#include "experiments/encodings/view.h"
#include "layers/transformer.h"
#include "train/config_derived.h"
#include "train/config_table.h"
#include "train/nearest_name.h"

namespace tapeline {
namespace {

const ConfigKey& key_named(std::string_view name) {
  const ConfigKey* key = find_config_key(name);
  require<StateError>(key != nullptr, "encodings: there is no key \"{}\"", name);
  return *key;
}

constexpr std::string_view long_factors_key = "positional.rope.long_factors";

/// positional.rope.factor in a context of `length`.
double drawn_factor(const Config& config, Index length) {
  const auto factor = std::get<std::string>(key_named("positional.rope.factor").get(config));
  const double asked = std::strtod(factor.c_str(), nullptr);  // 0 for "auto"
  if (asked >= 1) return asked;
  return std::max(1.0, static_cast<double>(length) / static_cast<double>(config.train.length));
}

/// Factors from 1 for the fastest pair to the whole extension for the slowest.
std::vector<double> made_up_factors(const Config& config, Index length) {
  Index first_rope = 0;  // a pattern may begin with another kind
  while (first_rope + 1 < config.model.layers && config.positional.kind_of_layer(first_rope) != "rope") {
    ++first_rope;
  }
  const std::optional<RotationView> plain =
      view_rotation(EncodingView(model_plan(without_scaling(config).value_or(config))), first_rope, 2);
  const Index pairs = plain ? plain->width / 2 : 0;
  const double extension = drawn_factor(config, length);
  std::vector<double> factors;
  for (Index pair = 0; pair < pairs; ++pair) {
    factors.push_back(
        std::pow(extension, static_cast<double>(pair) / static_cast<double>(std::max<Index>(pairs - 1, 1))));
  }
  return factors;
}

void use_wrapper(Config& config, std::string_view name, std::string& note) {
  PositionalConfig& positional = config.positional;
  const Index trained = config.train.length;
  if (name == "logn" || name == "ssmax" || name == "llama4") {
    positional.score.scale = name;
    if (name == "llama4" && positional.score.floor_scale > static_cast<double>(trained)) {
      positional.score.floor_scale = static_cast<double>(trained);
      note = fmt::format("Drawn with positional.score.floor_scale = {}, the trained length", trained);
    }
  }
  if ((name == "window" || name == "sinks") && positional.keys.window == 0) {
    positional.keys.window = std::max<Index>(trained / 2, 1);
    note = fmt::format("Drawn with positional.keys.window = {}", positional.keys.window);
  }
  if (name == "sinks" && positional.keys.sinks == 0) {
    positional.keys.sinks = 4;
    note += fmt::format("{}positional.keys.sinks = 4", note.empty() ? "Drawn with " : " and ");
  }
  if (name == "randomized" && positional.randomized.maximum == 0) {
    positional.randomized.maximum = 8 * trained;
    note = fmt::format("Drawn with positional.randomized.maximum = {}", 8 * trained);
  }
  if (name == "pattern" && positional.pattern.empty()) {
    const auto built = built_kinds();
    const auto is_built = [&](std::string_view kind) {
      return std::ranges::find(built, kind) != built.end();
    };
    positional.pattern = is_built("rope") && is_built("none")
                             ? std::vector<std::string>{"rope", "none"}
                             : std::vector<std::string>{std::string(built.front())};
    if (config.model.layers < 2) positional.pattern.resize(1);
    positional.kind = positional.pattern.front();
    note = fmt::format("Drawn with positional.layers.pattern = {}", option_text(positional.pattern));
  }
}

}  // namespace

std::string_view EncodingSubject::name() const {
  return encoding != nullptr ? encoding->name : scaling != nullptr ? scaling->name : wrapper->name;
}

std::string_view EncodingSubject::role() const {
  return encoding != nullptr ? "encoding" : scaling != nullptr ? "scaling" : "wrapper";
}

std::vector<EncodingSubject> all_subjects() {
  std::vector<EncodingSubject> subjects;
  for (const EncodingKind& kind : encoding_kinds()) subjects.push_back({.encoding = &kind});
  for (const WrapperKind& row : rope_scaling_rows()) subjects.push_back({.scaling = &row});
  for (const WrapperKind& row : wrapper_kinds()) subjects.push_back({.wrapper = &row});
  return subjects;
}

EncodingSubject find_subject(const std::string& name) {
  if (is_left_out(name)) encoding_kind(name, "encodings");  // says which build has it
  std::vector<std::string> names;
  for (const EncodingSubject& subject : all_subjects()) {
    if (subject.name() == name) return subject;
    names.emplace_back(subject.name());
  }
  const std::string nearest = did_you_mean(nearest_name(name, names));
  fail<ConfigError>("encodings: there is no \"{}\"{}", excerpt(name),
                    nearest.empty() ? std::string("; tapeline encodings lists what there is") : nearest);
}

Config with_subject(const Config& config, const EncodingSubject& subject, bool keep_pattern, Index length,
                    std::string* note) {
  Config changed = config;
  PositionalConfig& positional = changed.positional;
  std::string said;
  const auto use_kind = [&](std::string_view kind) {
    if (keep_pattern && positional.uses(kind)) return;
    positional.kind = kind;
    positional.pattern.clear();
  };
  if (subject.encoding != nullptr) use_kind(subject.encoding->name);
  if (subject.scaling != nullptr) {
    use_kind("rope");
    key_named("positional.rope.scaling").set(changed, std::string(subject.scaling->name));
    const auto given = std::get<std::vector<double>>(key_named(long_factors_key).get(changed));
    if (subject.scaling->name == "longrope" && given.empty()) {
      key_named(long_factors_key).set(changed, made_up_factors(changed, length));
      said = fmt::format("Drawn with {} made up, from 1 to the whole extension; a search finds better ones",
                         long_factors_key);
    } else {
      said = fmt::format("Drawn with positional.rope.factor = {:g}, in a context of {}",
                         drawn_factor(changed, length), length);
    }
  }
  if (subject.wrapper != nullptr) use_wrapper(changed, subject.wrapper->name, said);
  if (note != nullptr) *note = said;
  return changed;
}

std::optional<Config> without_scaling(const Config& config) {
  if (rope_scaling_rows().empty() || !config.positional.uses("rope")) return std::nullopt;
  const ConfigKey& scaling = key_named("positional.rope.scaling");
  if (scaling.get(config) == scaling.initial) return std::nullopt;
  Config plain = config;
  for (const WrapperKind& row : rope_scaling_rows()) {
    for (const std::string_view name : row.keys) key_named(name).set(plain, key_named(name).initial);
  }
  return plain;
}

SubjectCount count_subject(const Config& config, const EncodingSubject& subject) {
  SubjectCount count;
  try {
    // A scaling trains nothing; what it takes to run is not asked here.
    Config with = subject.scaling != nullptr ? config : with_subject(config, subject, false, 0);
    if (subject.scaling != nullptr) {
      with.positional.kind = "rope";
      with.positional.pattern.clear();
      with = without_scaling(with).value_or(with);
    }
    const ModelPlan plan = model_plan(with);
    count.model = Transformer::parameter_count(plan);
    if (subject.scaling != nullptr) return count;
    count.own = positional_parameters(plan);
    if (subject.wrapper != nullptr) count.own -= positional_parameters(model_plan(config));
  } catch (const ConfigError& error) {
    count.refusal = error.what();
  }
  return count;
}

}  // namespace tapeline

#include "train/config_validation.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "core/excerpt.h"
#include "train/config_derived.h"
#include "train/config_table.h"
#include "train/config_text.h"

namespace tapeline {
namespace {

/// `model.width 100 (--set)`: a key for the text of an error.
std::string named(const ResolvedConfig& resolved, std::string_view name) {
  const ConfigKey& key = *find_config_key(name);
  const auto origin = resolved.origins.find(key.name);
  return fmt::format("{} {} ({})", name, excerpt(value_text(key, key.get(resolved.config))),
                     origin != resolved.origins.end() ? origin->second
                     : value_text(key, key.get(resolved.config)) == value_text(key, key.initial)
                         ? "default"
                         : "as configured");
}

/// Refuses two keys that do not fit together, with the rule that they break.
struct Both {
  const ResolvedConfig& resolved;
  void operator()(std::string_view first, std::string_view second, bool fit, std::string_view rule) const {
    require<ConfigError>(fit, "{} does not fit {}: {}", named(resolved, first), named(resolved, second),
                         rule);
  }
};

bool usable_as_folder_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.size() <= 100 && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.' || c == '+';
  });
}

void validate_sweep(const ResolvedConfig& resolved) {
  const std::vector<double>& sweep = resolved.config.compare.sweep;
  const std::set<double> different(sweep.begin(), sweep.end());
  require<ConfigError>(sweep.size() != 1 && different.size() == sweep.size(),
                       "{}: two or more different multiples, as [0.5, 1, 2]; [] for no sweep",
                       named(resolved, "compare.sweep"));
}

void validate_comparison(const Config& config) {
  std::set<std::string> names;
  const auto add = [&](const Variant& variant, std::string_view what) {
    require<ConfigError>(usable_as_folder_name(variant.name),
                         "{}: it becomes the name of a folder; use at most 100 letters, digits and . _ - + "
                         "without a dot in front",
                         called(what, variant));
    require<ConfigError>(names.insert(variant.name).second,
                         "{}: that name is given twice; variants and evaluations share their names",
                         called(what, variant));
  };
  const std::vector<Variant> variants = all_variants(config);
  std::map<std::string, Config> trained;
  for (const Variant& variant : variants) {
    add(variant, "variant");
    trained.emplace(variant.name, with_variant(config, variant));
  }
  for (const Variant& evaluation : config.compare.evaluations) {
    add(evaluation, "evaluation");
    require<ConfigError>(!evaluation.changes.empty(),
                         "{} changes nothing; every model is evaluated as it was trained already: give "
                         "positional = {{…}}",
                         called("evaluation", evaluation));
    for (const std::string& name : evaluated_variants(config, variants, evaluation))
      with_evaluation(trained.at(name), evaluation);
  }
}

/// Whether a model of these sizes can have these wrappers.
void validate_positions(const ResolvedConfig& resolved) {
  const PositionalConfig& positional = resolved.config.positional;
  const ScoreScaleConfig& score = positional.score;
  const Index length = resolved.config.train.length, maximum = positional.randomized.maximum;
  const Both both{resolved};
  both("positional.kind", "positional.layers.pattern",
       positional.pattern.empty() || positional.uses(positional.kind),
       "it must be one of the pattern's kinds; give the pattern [] for one kind in every layer");
  both("positional.layers.pattern", "model.layers",
       static_cast<Index>(positional.pattern.size()) <= resolved.config.model.layers,
       "the pattern may not be longer than the model");
  both("positional.score.scale", "positional.layers.pattern",
       score.scale != "llama4" || positional.pattern.empty() || positional.uses("none"),
       "with a pattern it acts on the layers of kind none");
  both("positional.score.base_length", "train.length",
       score.scale != "logn" || score.base_length > 0 || length >= 2,
       "the logarithm of a trained length of 1 is 0; give a base length");
  both("positional.randomized.maximum", "train.length", maximum == 0 || maximum >= length,
       "each row of a window needs a position of its own; 0: no draw");
}

}  // namespace

void validate_run(const ResolvedConfig& resolved) {
  const Config& config = resolved.config;
  const ModelConfig& model = config.model;
  const TrainConfig& train = config.train;
  const Both both{resolved};
  const auto one = [&](std::string_view key, bool right, std::string_view rule) {
    require<ConfigError>(right, "{}: {}", named(resolved, key), rule);
  };
  both("model.width", "model.heads", model.width % model.heads == 0, "the heads share the width evenly");
  both("model.key_value_heads", "model.heads", model.heads % model.resolved_key_value_heads() == 0,
       "the heads share the key and value heads evenly");
  both("model.feed_forward", "model.width", model.resolved_feed_forward_width() <= 1 << 24,
       "their product, the inner width, is at most 16777216");
  validate_positions(resolved);
  one("data.vocabulary", config.data.tokenizer != "bytes" || config.data.vocabulary == 256,
      "there are 256 bytes");
  both("data.validation_share", "data.test_share", config.data.validation_share + config.data.test_share < 1,
       "something must be left to train on");
  both("train.tokens_per_step", "train.length", train.tokens_per_step % train.length == 0,
       "a step holds whole windows");
  both("train.micro_batch", "train.tokens_per_step",
       train.micro_batch == 0 || windows_per_step(config) % train.micro_batch == 0,
       "it must divide the windows of a step, tokens_per_step / length");
  both("schedule.warmup", "schedule.decay",
       config.schedule.kind != "wsd" || config.schedule.warmup + config.schedule.decay <= 1,
       "rise and fall are shares of the same steps, together at most 1");
  one("schedule.floor",
      config.schedule.kind != "wsd" || config.schedule.decay_shape != "exponential" ||
          config.schedule.floor > 0,
      "an exponential fall never reaches 0");
  one("optimizer.betas", config.optimizer.betas.size() == 2, "two numbers, [0.9, 0.99]");
  one("evaluate.lengths", !config.evaluate.lengths.empty(), "at least one length");
  one("evaluate.protocols", !config.evaluate.protocols.empty(), "at least one protocol");
  for (const std::string& length : config.evaluate.lengths) length_in_tokens(length, train.length);
  sliding_limit(config);
}

void validate(const ResolvedConfig& resolved) {
  validate_run(resolved);
  validate_sweep(resolved);
  validate_comparison(resolved.config);
}

}  // namespace tapeline

#include "train/config_table.h"

#include <algorithm>
#include <concepts>
#include <type_traits>

#include "core/error.h"
#include "core/parallel.h"
#include "layers/positional/kinds_of_build.h"
#include "layers/positional/registry.h"
#include "train/optimizer.h"
#include "train/probe.h"
#include "train/schedule.h"

namespace tapeline {
namespace {

Range at_least(double lowest) {
  return {fmt::format("at least {}", lowest), [lowest](double x) { return x >= lowest; }};
}
Range between(double lowest, double highest) {
  return {fmt::format("from {} to {}", lowest, highest),
          [lowest, highest](double x) { return x >= lowest && x <= highest; }};
}
Range below(double lowest, double end) {
  return {fmt::format("from {} to below {}", lowest, end),
          [lowest, end](double x) { return x >= lowest && x < end; }};
}
Range above(double lowest) {
  return {fmt::format("above {}", lowest), [lowest](double x) { return x > lowest; }};
}
/// Sizes stop where their products would no longer fit an Index.
Range size(double lowest) { return between(lowest, 1 << 24); }

std::vector<std::string> kind_names() { return {built_kinds().begin(), built_kinds().end()}; }

/// The type a member has as an option.
template <class Member>
OptionValue to_option(const Member& member) {
  if constexpr (std::integral<Member> && !std::same_as<Member, bool>) {
    return static_cast<Index>(member);
  } else {
    return member;
  }
}
template <class Member>
void from_option(Member& member, const OptionValue& value) {
  if constexpr (std::integral<Member> && !std::same_as<Member, bool>) {
    member = static_cast<Member>(std::get<Index>(value));
  } else {
    member = std::get<Member>(value);
  }
}

/// Limits of a value besides its type.
struct Limits {
  Range range{};
  std::vector<std::string> choices{};
  bool kinds = false;
  Notation notation = Notation::plain;
  bool after_training = false;
  std::vector<std::string> trained_choices{};
};

/// A row: `member` gives the place in the struct, of a const Config too.
template <class Member>
ConfigKey row(std::string name, Member member, std::string help, Limits limits = {}) {
  return {.name = std::move(name),
          .help = std::move(help),
          .initial = to_option(member(default_config())),
          .choices = std::move(limits.choices),
          .kinds = limits.kinds,
          .range = std::move(limits.range),
          .notation = limits.notation,
          .after_training = limits.after_training,
          .trained_choices = std::move(limits.trained_choices),
          .get = [member](const Config& config) { return to_option(member(config)); },
          .set = [member](Config& config, const OptionValue& value) { from_option(member(config), value); }};
}
ConfigKey row(std::string name, auto member, std::string help, Range range) {
  return row(std::move(name), member, std::move(help), Limits{.range = std::move(range)});
}
ConfigKey row(std::string name, auto member, std::string help, std::vector<std::string> choices) {
  return row(std::move(name), member, std::move(help), Limits{.choices = std::move(choices)});
}

/// The row of one option of one encoding.
ConfigKey option_row(const EncodingKind& kind, const OptionField& field) {
  const std::string kind_name(kind.name);
  const auto get = [kind_name, field](const Config& config) {
    const auto found = config.positional.options.find(kind_name);
    return found == config.positional.options.end() ? field.initial : found->second[field.name];
  };
  const auto set = [kind_name, field, fields = kind.options](Config& config, const OptionValue& value) {
    config.positional.options.try_emplace(kind_name, fields).first->second.set(field.name, value);
  };
  return {.name = fmt::format("positional.{}.{}", kind.name, field.name),
          .help = field.help,
          .initial = field.initial,
          .choices = field.choices,
          .range = {},
          .notation = field.number_too ? Notation::number_too : Notation::plain,
          .after_training = field.after_training,
          .get = get,
          .set = set};
}

// clang-format off
#define FIELD(path) [](auto& config) -> auto& { return config.path; }

std::vector<ConfigKey> make_keys() {
  std::vector<ConfigKey> keys = {
      row("model.layers", FIELD(model.layers), "blocks", size(1)),
      row("model.width", FIELD(model.width), "numbers a token's row has", size(1)),
      row("model.heads", FIELD(model.heads), "attention heads; they share the width", size(1)),
      row("model.key_value_heads", FIELD(model.key_value_heads), "heads of keys and values; 0: as many as heads", size(0)),
      row("model.feed_forward", FIELD(model.feed_forward), "inner width of the feed-forward part, as a multiple of the width", size(1)),
      row("model.feed_forward_width", FIELD(model.feed_forward_width), "that inner width itself; 0: by the multiple", size(0)),
      row("model.norm", FIELD(model.norm), "normalisation", std::vector<std::string>{"layer", "rms"}),
      row("model.norm_epsilon", FIELD(model.norm_epsilon), "added to the variance", above(0)),
      row("model.activation", FIELD(model.activation), "of the feed-forward part", std::vector<std::string>{"gelu", "gelu_tanh", "swiglu"}),
      row("model.bias", FIELD(model.bias), "biases in linear layers and norms"),
      row("model.tied", FIELD(model.tied), "the head is the token table"),
      row("model.parallel_residual", FIELD(model.parallel_residual), "attention and feed-forward side by side"),
      row("model.embedding_norm", FIELD(model.embedding_norm), "a norm after the embedding"),
      row("model.dropout", FIELD(model.dropout), "share dropped while training", below(0, 1)),

      row("positional.kind", FIELD(positional.kind), "the positional encoding", Limits{.choices = kind_names(), .kinds = true}),
      row("positional.score.scale", FIELD(positional.score.scale), "factor on the scores by how many keys a query sees", Limits{.choices = {"none", "logn", "ssmax", "llama4"}, .after_training = true, .trained_choices = {"ssmax"}}),
      row("positional.score.clip", FIELD(positional.score.clip), "logn: the factor is never below 1", Limits{.after_training = true}),
      row("positional.score.base_length", FIELD(positional.score.base_length), "logn: keys at which the factor is 1; \"auto\": the trained length", Limits{.range = at_least(2), .notation = Notation::automatic, .after_training = true}),
      row("positional.score.floor_scale", FIELD(positional.score.floor_scale), "llama4: keys to a step of the factor", Limits{.range = at_least(1), .after_training = true}),
      row("positional.score.attention_scale", FIELD(positional.score.attention_scale), "llama4: height of the steps", Limits{.range = at_least(0), .after_training = true}),
      row("positional.keys.window", FIELD(positional.keys.window), "keys a query sees, itself included; 0: all", Limits{.range = at_least(0), .after_training = true}),
      row("positional.keys.sinks", FIELD(positional.keys.sinks), "first keys that every query sees beside its window", Limits{.range = at_least(0), .after_training = true}),
      row("positional.randomized.maximum", FIELD(positional.randomized.maximum), "positions of a training step are drawn from 0 up to below this; 0: no draw", size(0)),
      row("positional.randomized.evaluation", FIELD(positional.randomized.evaluation), "positions of an evaluated window: 0, 1, 2, ..., or drawn as in training", Limits{.choices = {"arange", "sample"}, .after_training = true}),
      row("positional.layers.pattern", FIELD(positional.pattern), "kinds repeated over the layers; empty: positional.kind in every layer", Limits{.choices = kind_names(), .kinds = true}),

      row("data.source", FIELD(data.source), "a named corpus, a file, a folder, \"-\" for standard input, a token store"),
      row("data.tokenizer", FIELD(data.tokenizer), "what a token is", std::vector<std::string>{"bytes", "chars"}),
      row("data.vocabulary", FIELD(data.vocabulary), "how many tokens there are", size(2)),
      row("data.block", FIELD(data.block), "tokens of a block of the split; \"auto\": by the text's size", Limits{.range = at_least(0), .notation = Notation::automatic}),
      row("data.validation_share", FIELD(data.validation_share), "share of the blocks kept for validation", below(0, 1)),
      row("data.test_share", FIELD(data.test_share), "share of the blocks kept for testing", below(0, 1)),

      row("train.length", FIELD(train.length), "the trained length L, in tokens", size(1)),
      row("train.tokens_per_step", FIELD(train.tokens_per_step), "tokens of an optimizer step, a multiple of the length", between(1, 1LL << 32)),
      row("train.steps", FIELD(train.steps), "optimizer steps", between(0, 1LL << 40)),
      row("train.micro_batch", FIELD(train.micro_batch), "windows run at once; \"auto\": by their size", Limits{.range = at_least(0), .notation = Notation::automatic}),
      row("train.seed", FIELD(train.seed), "of weights, order and dropout; a comparison counts on from it", at_least(0)),
      row("train.threads", FIELD(train.threads), "threads; 0: all cores", between(0, most_threads)),
      row("train.checkpoint_every", FIELD(train.checkpoint_every), "steps between checkpoints; 0: only the last", at_least(0)),
      row("train.keep", FIELD(train.keep), "last checkpoints kept, besides the best", at_least(1)),
      row("train.evaluate_every", FIELD(train.evaluate_every), "steps between evaluations; 0: only at the end", at_least(0)),
      row("train.on_nonfinite", FIELD(train.on_nonfinite), "when a gradient is not finite", std::vector<std::string>{"stop", "skip"}),

      row("optimizer.kind", FIELD(optimizer.kind), "the optimizer", optimizer_kinds()),
      row("optimizer.lr", FIELD(optimizer.lr), "peak learning rate", at_least(0)),
      row("optimizer.betas", FIELD(optimizer.betas), "adamw, lion: decay of the two averages", below(0, 1)),
      row("optimizer.momentum", FIELD(optimizer.momentum), "sgd: share of the velocity kept; 0: none", below(0, 1)),
      row("optimizer.eps", FIELD(optimizer.eps), "adamw: added to the root of the second moment", above(0)),
      row("optimizer.weight_decay", FIELD(optimizer.weight_decay), "of matrices only", at_least(0)),
      row("optimizer.clip", FIELD(optimizer.clip), "largest gradient norm; 0: none", at_least(0)),

      row("schedule.kind", FIELD(schedule.kind), "course of the learning rate", schedule_kinds()),
      row("schedule.warmup", FIELD(schedule.warmup), "share of the steps in which the rate rises", between(0, 1)),
      row("schedule.floor", FIELD(schedule.floor), "cosine, wsd: last rate as a share of the peak", between(0, 1)),
      row("schedule.decay", FIELD(schedule.decay), "wsd: share of the steps, the last ones, in which the rate falls", between(0, 1)),
      row("schedule.decay_shape", FIELD(schedule.decay_shape), "wsd: how it falls", decay_shapes()),

      row("evaluate.lengths", FIELD(evaluate.lengths), "multiples of the trained length (\"4x\") or numbers of tokens", Limits{.notation = Notation::length}),
      row("evaluate.protocols", FIELD(evaluate.protocols), "how windows are laid over the text", std::vector<std::string>{"nonoverlapping", "sliding"}),
      row("evaluate.stride", FIELD(evaluate.stride), "tokens scored by a sliding window; 0: half the trained length", at_least(0)),
      row("evaluate.sliding_tokens", FIELD(evaluate.sliding_tokens), "targets scored by the sliding protocol, evenly spaced over all; at least one piece as long as its longest window", at_least(1)),
      row("evaluate.sliding_up_to", FIELD(evaluate.sliding_up_to), "longest window of the sliding protocol, and of the probes history and shuffle", Limits{.notation = Notation::length}),
      row("evaluate.probes", FIELD(evaluate.probes), "what is measured besides the loss by length; all: everything, none: nothing", Limits{.choices = probe_names(), .notation = Notation::all_or_none}),
      row("evaluate.scored", FIELD(evaluate.scored), "which targets count: the same for every length, or all", std::vector<std::string>{"auto", "all"}),

      row("compare.encodings", FIELD(compare.encodings), "encodings to train, each a variant of that name; all: every one", Limits{.choices = kind_names(), .kinds = true, .notation = Notation::all_too}),
      row("compare.seeds", FIELD(compare.seeds), "models trained of each variant, with seeds counted on from train.seed", between(1, 1000)),
      row("compare.sweep", FIELD(compare.sweep), "multiples of optimizer.lr that each variant is tried at first, with the first seed; the best at the trained length is taken for all seeds; []: no sweep", above(0)),
      row("compare.claims", FIELD(compare.claims), "criteria judged when all is measured, C1 to C12; all: every one; [] for none", Limits{.choices = Config().compare.claims, .notation = Notation::all_too}),
      row("compare.primary", FIELD(compare.primary), "the primary ones of compare.claims, declared before the run: --check looks at these; [] for none", Limits{.choices = Config().compare.claims, .notation = Notation::all_too}),
      row("compare.thresholds", FIELD(compare.thresholds), "the frozen set of numbers that the criteria ask for", std::vector<std::string>{"smoke-1", "toy-1", "paper-1"}),
  };
  // The options of the encodings stand behind [positional] itself.
  const auto place = std::ranges::find(keys, "data.source", &ConfigKey::name);
  std::vector<ConfigKey> options;
  for (const EncodingKind& kind : encoding_kinds()) {
    for (const OptionField& field : kind.options) options.push_back(option_row(kind, field));
  }
  keys.insert(place, options.begin(), options.end());
  return keys;
}
#undef FIELD
// clang-format on

}  // namespace

const Config& default_config() {
  static const Config config = [] {
    Config made;
    if (!left_out_kinds().empty()) made.compare.encodings = kind_names();
    return made;
  }();
  return config;
}

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> keys = make_keys();
  return keys;
}

const ConfigKey* find_config_key(std::string_view name) {
  const std::vector<ConfigKey>& keys = config_keys();
  const auto found = std::ranges::find(keys, name, &ConfigKey::name);
  return found == keys.end() ? nullptr : &*found;
}

bool acts_on_positions(const PositionalConfig& config, std::string_view name) {
  constexpr std::string_view positional = "positional.";
  if (!name.starts_with(positional)) return false;
  name.remove_prefix(positional.size());
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return true;  // positional.kind
  const std::string_view section = name.substr(0, dot);
  return section == "score" || section == "keys" || section == "randomized" || section == "layers" ||
         config.uses(section);
}

bool is_config_section(std::string_view name) {
  return std::ranges::any_of(config_keys(), [&](const ConfigKey& key) {
    return key.name.size() > name.size() && key.name.starts_with(name) && key.name[name.size()] == '.';
  });
}

std::string describe_type(const ConfigKey& key) {
  struct Names {
    std::string operator()(bool) const { return "true or false"; }
    std::string operator()(Index) const { return "a whole number"; }
    std::string operator()(double) const { return "a number"; }
    std::string operator()(const std::string&) const { return "a text"; }
    std::string operator()(const std::vector<std::string>&) const { return "a list of texts"; }
    std::string operator()(const std::vector<double>&) const { return "a list of numbers"; }
  };
  const std::string type = std::visit(Names{}, key.initial);
  if (key.notation == Notation::automatic) return type + " or \"auto\"";
  if (key.notation == Notation::number_too) return type + " or a number";
  if (key.notation != Notation::length) return type;
  const bool list = std::holds_alternative<std::vector<std::string>>(key.initial);
  return list ? "a list of lengths (128, \"2x\")" : "a length (128, \"2x\")";
}

}  // namespace tapeline

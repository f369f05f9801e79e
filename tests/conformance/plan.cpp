#include "tests/conformance/plan.h"

#include <algorithm>
#include <cmath>

#include "layers/positional/kinds_of_build.h"
#include "tests/conformance/meaning.h"
#include "train/config_table.h"

namespace tapeline::conformance {

namespace {

/// A value of the type that the key has.
OptionValue converted(const ConfigKey& key, const nlohmann::json& value) {
  struct As {
    const ConfigKey& key;
    const nlohmann::json& value;

    void require_type(bool right) const {
      require<DataError>(right, "{} takes {}; the case says {}", key.name, describe_type(key), value.dump());
    }
    OptionValue operator()(bool) const {
      require_type(value.is_boolean());
      return value.get<bool>();
    }
    OptionValue operator()(Index) const {
      require_type(value.is_number() && value.get<double>() == std::nearbyint(value.get<double>()));
      return static_cast<Index>(value.get<double>());
    }
    OptionValue operator()(double) const {
      require_type(value.is_number());
      return value.get<double>();
    }
    OptionValue operator()(const std::string&) const {
      require_type(value.is_string() || value.is_number());
      return value.is_string() ? value.get<std::string>() : fmt::format("{}", value.get<double>());
    }
    OptionValue operator()(const std::vector<std::string>&) const {
      require_type(value.is_array());
      return value.get<std::vector<std::string>>();
    }
    OptionValue operator()(const std::vector<double>&) const {
      require_type(value.is_array());
      return value.get<std::vector<double>>();
    }
  };
  return std::visit(As{key, value}, key.initial);
}

bool is_causal(const GoldenCase& of) {
  if (of.knows("causal")) return of.flag("causal");
  if (of.knows("bidirectional")) return !of.flag("bidirectional");
  if (of.knows("symmetric")) return of.text("symmetric") == "no";
  return !of.has("rel");  // distances to both sides
}

PositionalConfig configured(const GoldenCase& of, const Meaning& meaning, nlohmann::json params) {
  const auto built = built_kinds();
  require<Unrunnable>(std::ranges::find(built, meaning.kind) != built.end(),
                      "not in this build: positional.kind = \"{}\"", meaning.kind);
  Config config = default_config();
  config.positional.kind = meaning.kind;
  for (const Setting& setting : meaning.settings) {
    const auto said = setting.param.empty() ? params.end() : params.find(setting.param);
    const nlohmann::json& value = said == params.end() ? setting.otherwise : *said;
    if (value.is_null()) continue;
    const std::string name = fmt::format("positional.{}", setting.key);
    const ConfigKey* key = find_config_key(name);
    require<Unrunnable>(key != nullptr, "not in this build: {} = {}", name, value.dump());
    key->set(config, converted(*key, value));
  }
  config.positional.keys.causal = is_causal(of);
  return config.positional;
}

/// Positions as an array or as a parameter; of the inputs where the case has none.
std::vector<Index> positions_of(const GoldenCase& of, const GoldenCase* inputs) {
  for (const char* name : {"positions", "ids"}) {
    if (of.has(name)) return of.array(name).whole(name);
  }
  if (of.knows("positions")) return of.params["positions"].get<std::vector<Index>>();
  return inputs == nullptr ? std::vector<Index>{} : positions_of(*inputs, nullptr);
}

/// A pair of positions at this distance, i - j.
std::pair<Index, Index> pair_at(Index distance) {
  return {std::max(distance, Index{0}), std::max(-distance, Index{0})};
}

void ask_for_pairs(Work& work, std::string array, const std::vector<Index>& distances) {
  work.result = std::move(array);
  for (const Index distance : distances) {
    work.pairs.push_back(pair_at(distance));
    work.rows = std::max(work.rows, std::abs(distance) + 1);
  }
}

void take(Work& work, const GoldenCase& from, std::initializer_list<const char*> arrays) {
  for (const char* array : arrays) work.given[array] = from.array(array);
}

/// Sizes from an array [H, L, D].
void take_heads(Work& work, const GoldenArray& array, std::string_view name) {
  require<DataError>(array.shape.size() == 3, "its \"{}\" has {} axes; heads, rows and features are needed",
                     name, array.shape.size());
  work.heads = array.shape[0];
  work.rows = array.shape[1];
  work.head_width = array.shape[2];
  work.width = work.heads * work.head_width;
}

/// One extent of an array that must have so many axes.
Index extent(const GoldenCase& from, std::string_view name, std::size_t axis, std::size_t axes) {
  const GoldenArray& array = from.array(name);
  require<DataError>(array.shape.size() == axes, "its \"{}\" has {} axes; {} are needed", name,
                     array.shape.size(), axes);
  return array.shape[axis];
}

void one_head(Work& work, Index head_width) {
  work.heads = 1;
  work.head_width = work.width = head_width;
}

constexpr Index any_head_width = 8;

/// Everything that only needs heads.
void some_heads(Work& work, Index heads) {
  work.heads = heads;
  work.head_width = any_head_width;
  work.width = heads * any_head_width;
}

/// The kinds of work by the arrays that a case has. False: none fits.
bool describe(Work& work, const GoldenCase& of, const GoldenCase* inputs) {
  const GoldenCase& source = inputs == nullptr ? of : *inputs;
  work.positions = positions_of(of, inputs);
  if (of.has("y")) {
    work.quantity = Quantity::input;
    take(work, source, {"x", "Wq", "Wk", "Wv", "dout"});
    take_heads(work, source.array("dout"), "dout");
    work.width = extent(source, "x", 1, 2);
  } else if (of.has("out")) {
    work.quantity = Quantity::attention;
    take(work, source, {"q", "k", "v", "dout"});
    take_heads(work, source.array("q"), "q");
  } else if (of.has("pe")) {
    work.quantity = Quantity::added_rows;
    one_head(work, of.integer("width", extent(of, "pe", 1, 2)));
    work.rows = extent(of, "pe", 0, 2);
  } else if (of.has("cos") || of.has("inv_freq")) {
    work.quantity = of.has("cos") ? Quantity::angles : Quantity::frequencies;
    one_head(work, of.integer("rotary_dim"));
    work.rows = static_cast<Index>(work.positions.size());
  } else if (of.has("q") && of.has("k")) {
    work.quantity = Quantity::turned;
    take(work, source, {"q", "k"});
    take_heads(work, source.array("q"), "q");
  } else if (of.has("slopes")) {
    some_heads(work, of.integer("heads", of.array("slopes").size()));
    work.quantity = Quantity::bias;
    work.bias_factor = -1;
    ask_for_pairs(work, "slopes", {1});
  } else if (of.has("sum_cos")) {  // the bias of the one head is an eighth of the sum, but for a constant
    some_heads(work, 1);
    work.quantity = Quantity::bias;
    work.bias_factor = 8;
    work.at_zero = of.number("d_bar") / 2;
    ask_for_pairs(work, "sum_cos", of.array("d").whole("d"));
  } else if (of.has("bias") && of.has("d")) {
    some_heads(work, extent(of, "bias", 0, 2));
    work.quantity = Quantity::bias;
    ask_for_pairs(work, "bias", of.array("d").whole("d"));
  } else if (of.has("bias")) {
    take_heads(work, of.array("bias"), "bias");
    some_heads(work, work.heads);
    work.quantity = Quantity::bias;
    work.result = "bias";
    for (Index i = 0; i < work.rows; ++i) {
      for (Index j = 0; j < work.rows; ++j) work.pairs.emplace_back(i, j);
    }
  } else if (of.has("bucket") && of.has("rel")) {  // distances i - j
    some_heads(work, 1);
    work.quantity = Quantity::row_of_pair;
    ask_for_pairs(work, "bucket", of.array("rel").whole("rel"));
  } else if (of.has("bucket")) {  // j - i from rel_first on
    some_heads(work, 1);
    work.quantity = Quantity::bias;
    std::vector<Index> distances;
    for (Index n = 0; n < of.array("bucket").size(); ++n) distances.push_back(-(of.integer("rel_first") + n));
    ask_for_pairs(work, "bucket", distances);
  } else if (of.has("pos")) {
    some_heads(work, 1);
    work.quantity = Quantity::factor;
    work.positions = of.array("pos").whole("pos");
  } else {
    return false;
  }
  return true;
}

/// Lengths, and widths that an array needs.
void settle_sizes(Work& work, const GoldenCase& of, const GoldenCase* inputs) {
  const Index rows = std::max(work.rows, Index{2});
  const Index named = inputs == nullptr ? rows : inputs->integer("L_train", rows);
  work.train_length = of.integer("L0", of.integer("L_train", named));
  if (of.knows("max_len")) work.train_length = std::min(work.train_length, of.integer("max_len"));
  work.declared_context = of.integer("L", 0);
  if (of.text("kind", "") == "longrope") {  // the list of long contexts holds past the trained length
    work.declared_context = std::llround(of.number("s") * static_cast<double>(work.train_length));
  }
  if (of.has("Wr")) work.width = extent(of, "Wr", 0, 2);
  if (of.has("Kr")) work.width = std::max(work.width, extent(of, "Kr", 1, 3));
  if (of.knows("max_position")) work.train_length = of.integer("max_position");
}

void add_parts(Work& work, const GoldenCase& of, const Meaning& meaning) {
  for (const Part& part : meaning.parts) {
    LearnedArray learned{std::string(part.parameter), std::string(part.array), {}, part.arrangement};
    if (!part.array.empty()) learned.value = of.array(part.array);
    work.learned.push_back(std::move(learned));
  }
}

/// What some settings follow from, in the words of the library.
nlohmann::json with_derived(const GoldenCase& of, const Work& work) {
  nlohmann::json params = of.params;
  if (of.knows("rotary_dim"))
    params["fraction"] = of.number("rotary_dim") / static_cast<double>(work.head_width);
  if (of.knows("symmetric") && of.text("symmetric") == "split") params["symmetry"] = "split";
  return params;
}

}  // namespace

bool is_inputs(const GoldenCase& of) { return of.text("encoding") == "inputs"; }

std::vector<Work> plan(const GoldenCase& of, const GoldenFile& file) {
  const Meaning* meaning = meaning_of(of);
  require<Unrunnable>(meaning != nullptr, "encoding \"{}\" with these params: no such kind of case is known",
                      of.text("encoding"));
  const GoldenCase* inputs = file.find(of.text("inputs", "inputs"));
  Work work;
  require<Unrunnable>(describe(work, of, inputs), "nothing that is known belongs to its arrays");
  settle_sizes(work, of, inputs);
  add_parts(work, of, *meaning);
  nlohmann::json params = with_derived(of, work);
  if (work.quantity != Quantity::factor) {
    work.positional = configured(of, *meaning, params);
    work.made_causal = work.positional.keys.causal || meaning->refuses_full_attention;
    return {work};
  }
  std::vector<Work> all;  // one factor is given clipped and unclipped
  for (const char* array : {"factor", "clip", "noclip"}) {
    if (!of.has(array)) continue;
    work.result = array;
    if (work.result != "factor") params["clip"] = work.result == "clip";
    work.positional = configured(of, *meaning, params);
    all.push_back(work);
  }
  return all;
}

bool is_far(const Work& work) {
  constexpr Index far = 4096;
  const auto above = [](Index position) { return position > far; };
  return work.rows - 1 > far || std::ranges::any_of(work.positions, above);
}

}  // namespace tapeline::conformance

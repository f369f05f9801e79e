#include "tests/conformance/meaning.h"

#include <algorithm>

namespace tapeline::conformance {

namespace {

/// The keys of every rotation, then those of one scaling.
std::vector<Setting> rotary(std::vector<Setting> scaling = {}) {
  std::vector<Setting> settings = {
      {"rope.base", "base"}, {"rope.pairing", "pairing"}, {"rope.fraction", "fraction"}};
  settings.insert(settings.end(), scaling.begin(), scaling.end());
  return settings;
}

Setting scaled(std::string_view name) { return {"rope.scaling", "", name}; }

const std::vector<Part> transformer_xl_parts = {
    {"Wr", "projection", Arrangement::transposed}, {"u", "content_bias"}, {"v_bias", "position_bias"}};

}  // namespace

// clang-format off
const std::vector<Meaning>& meanings() {
  static const std::vector<Meaning> table = {
      {.encoding = "none", .kind = "none", .refuses_full_attention = true},
      {.encoding = "learned", .kind = "learned", .settings = {{"learned.rows", "max_len"}}, .parts = {{"table", "table"}}},
      {.encoding = "sinusoidal", .kind = "sinusoidal",
       .settings = {{"sinusoidal.layout", "layout"}, {"sinusoidal.base", "base"}, {"sinusoidal.scale", "", 1}}},

      {.encoding = "rope", .scaling = "none", .kind = "rope", .settings = rotary()},
      {.encoding = "rope", .scaling = "linear", .kind = "rope", .settings = rotary({scaled("linear"), {"rope.factor", "s"}})},
      {.encoding = "rope", .scaling = "ntk", .kind = "rope", .settings = rotary({scaled("ntk"), {"rope.factor", "s"}})},
      {.encoding = "rope", .scaling = "dynamic_ntk", .kind = "rope",
       .settings = rotary({scaled("dynamic_ntk"), {"rope.alpha", "alpha", 1}})},
      {.encoding = "rope", .scaling = "ntk_by_parts", .kind = "rope",
       .settings = rotary({scaled("ntk_by_parts"), {"rope.factor", "s"}, {"rope.alpha", "alpha", 1}, {"rope.beta", "beta", 32}})},
      {.encoding = "rope", .scaling = "yarn", .kind = "rope",
       .settings = rotary({scaled("yarn"), {"rope.factor", "s"}, {"rope.beta_fast", "fast", 32}, {"rope.beta_slow", "slow", 1},
                           {"rope.truncate", "truncate", true}, {"rope.attention_factor", "attn_factor"}})},
      {.encoding = "rope", .scaling = "llama3", .kind = "rope",
       .settings = rotary({scaled("llama3"), {"rope.factor", "s"}, {"rope.low", "low", 1}, {"rope.high", "high", 4}})},
      {.encoding = "rope", .scaling = "longrope", .kind = "rope",
       .settings = rotary({scaled("longrope"), {"rope.factor", "s"}, {"rope.long_factors", "factors"}, {"rope.keep_first", "keep_first"}})},
      {.encoding = "xpos", .kind = "xpos",
       .settings = {{"xpos.base", "base"}, {"xpos.pairing", "pairing"}, {"xpos.fraction", "fraction"},
                    {"xpos.scale_base", "scale_base"}, {"xpos.center", "center"}}},

      {.encoding = "alibi", .with_array = "slope", .kind = "alibi", .settings = {{"alibi.learned", "", true}}, .parts = {{"slope", "slopes"}}},
      {.encoding = "alibi", .kind = "alibi", .settings = {{"alibi.symmetric", "symmetry"}}},
      {.encoding = "t5", .with_array = "table", .kind = "t5",
       .settings = {{"t5.buckets", "num_buckets"}, {"t5.max_distance", "max_distance"}}, .parts = {{"table", "table"}}},
      {.encoding = "t5", .kind = "t5",
       .settings = {{"t5.buckets", "num_buckets"}, {"t5.max_distance", "max_distance"}},
       .parts = {{"", "table", Arrangement::row_number}}},
      {.encoding = "kerple_log", .kind = "kerple_log", .parts = {{"r1", "r1"}, {"r2", "r2"}}},
      {.encoding = "kerple_power", .kind = "kerple_power", .parts = {{"r1", "r1"}, {"r2", "r2"}}},
      {.encoding = "sandwich", .kind = "sandwich", .settings = {{"sandwich.dimension", "d_bar"}}},
      {.encoding = "fire", .kind = "fire", .settings = {{"fire.hidden", "mlp_width"}, {"fire.length", "L_init"}},
       .parts = {{"w1", "inner_weight"}, {"b1", "inner_bias"}, {"w2", "output_weight"}, {"b2", "output_bias"}, {"c", "kappa"}, {"lmul", "mu"}}},

      {.encoding = "logn", .kind = "none", .settings = {{"score.scale", "", "logn"}, {"score.clip", "clip"}}},
      {.encoding = "ssmax", .kind = "none", .settings = {{"score.scale", "", "ssmax"}}, .parts = {{"s", "score_scale"}}},
      {.encoding = "llama4", .kind = "none",
       .settings = {{"score.scale", "", "llama4"}, {"score.floor_scale", "floor_scale"}, {"score.attention_scale", "attn_scale"}}},
      {.encoding = "window", .kind = "none", .settings = {{"keys.window", "window"}, {"keys.sinks", "sinks"}}},

      {.encoding = "transformer_xl", .kind = "transformer_xl", .parts = transformer_xl_parts},
      {.encoding = "xlnet", .kind = "xlnet", .parts = transformer_xl_parts},
      {.encoding = "deberta", .with_array = "Kr", .kind = "deberta",
       .settings = {{"deberta.span", "span"}, {"deberta.index", "p2c"}},
       .parts = {{"", "table", Arrangement::identity}, {"Kr", "key_projection", Arrangement::projected},
                 {"Qr", "query_projection", Arrangement::projected}}},
      {.encoding = "deberta", .kind = "deberta",
       .settings = {{"deberta.max_position", "max_position"}, {"deberta.position_buckets", "position_buckets"}}},
      {.encoding = "cope", .kind = "cope", .settings = {{"cope.rows", "npos"}, {"cope.divide", "divide"}}, .parts = {{"e", "table"}}},
  };
  return table;
}
// clang-format on

const Meaning* meaning_of(const GoldenCase& of) {
  const auto fits = [&of](const Meaning& row) {
    return of.text("encoding") == row.encoding &&
           (row.scaling.empty() || of.text("kind", "none") == row.scaling) &&
           (row.with_array.empty() || of.has(row.with_array));
  };
  const auto found = std::ranges::find_if(meanings(), fits);
  return found == meanings().end() ? nullptr : &*found;
}

}  // namespace tapeline::conformance

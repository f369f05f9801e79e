#include "experiments/encodings/scalings.h"

#include <algorithm>

#include "layers/positional/kinds_of_build.h"

namespace tapeline {
namespace {

constexpr std::string_view acts_on_rope = "frequencies of rope";
constexpr std::string_view scaling_key = "positional.rope.scaling";
constexpr std::string_view factor_key = "positional.rope.factor";
constexpr std::string_view original_key = "positional.rope.original_length";

std::vector<WrapperKind> scaling_rows() {
  return {
      {.name = "linear",
       .title = "RoPE with interpolated positions",
       .formula = "f_p' = f_p / s",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; neighbours come closer, and blur",
       .paper = "Chen, Wong, Chen, Tian 2023, \"Extending Context Window of Large Language Models via "
                "Positional Interpolation\", arXiv:2306.15595",
       .keys = {scaling_key, factor_key, original_key}},
      {.name = "ntk",
       .title = "RoPE with a larger base (NTK-aware)",
       .formula = "f_p' = (base s^(r/(r-2)))^(-2p/r): the fastest pair as it was, the slowest divided by s",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; pairs between are slowed by less",
       .paper = "bloc97 2023, \"NTK-Aware Scaled RoPE\"; Peng, Quesnelle, Fan, Shippole 2023, "
                "arXiv:2309.00071",
       .keys = {scaling_key, factor_key, original_key}},
      {.name = "dynamic_ntk",
       .title = "NTK-aware scaling that grows with the context",
       .formula = "as ntk, s = alpha L/L0 - (alpha - 1) for a context of L rows, L at least L0",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; unchanged up to the length L0",
       .paper = "emozilla 2023, \"Dynamically Scaled RoPE\"; Peng, Quesnelle, Fan, Shippole 2023, "
                "arXiv:2309.00071",
       .keys = {scaling_key, original_key, "positional.rope.alpha"}},
      {.name = "ntk_by_parts",
       .title = "RoPE interpolated where pairs turn too seldom",
       .formula = "f_p' = (1 - g) f_p / s + g f_p, g = clamp((N_p - alpha) / (beta - alpha), 0, 1), "
                  "N_p = L0 f_p / 2 pi turns in the original length",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; fast pairs stay, slow ones are interpolated",
       .paper = "Peng, Quesnelle, Fan, Shippole 2023, \"YaRN: Efficient Context Window Extension of Large "
                "Language Models\", arXiv:2309.00071",
       .keys = {scaling_key, factor_key, original_key, "positional.rope.alpha", "positional.rope.beta"}},
      {.name = "yarn",
       .title = "NTK by parts with a temperature (YaRN)",
       .formula = "as ntk_by_parts, g falls from 1 to 0 between the pairs of beta_fast and beta_slow turns; "
                  "cosines and sines times (0.1 ln s + 1) attention_factor",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; as ntk_by_parts, scores sharper",
       .paper = "Peng, Quesnelle, Fan, Shippole 2023, \"YaRN: Efficient Context Window Extension of Large "
                "Language Models\", arXiv:2309.00071",
       .keys = {scaling_key, factor_key, original_key, "positional.rope.beta_fast",
                "positional.rope.beta_slow", "positional.rope.truncate", "positional.rope.attention_factor"}},
      {.name = "llama3",
       .title = "the scaling of Llama 3",
       .formula = "as ntk_by_parts with alpha = low, beta = high",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; fast pairs stay, slow ones are interpolated",
       .paper = "Llama team 2024, \"The Llama 3 Herd of Models\", arXiv:2407.21783",
       .keys = {scaling_key, factor_key, original_key, "positional.rope.low", "positional.rope.high"}},
      {.name = "longrope",
       .title = "RoPE with a factor for each pair (LongRoPE)",
       .formula = "f_p' = f_p / lambda_p, other lambda above the original length than up to it; the first "
                  "keep_first positions as they were; cosines and sines times sqrt(1 + ln s / ln L0)",
       .acts_on = acts_on_rope,
       .parameters = "none; the factors are searched, not trained",
       .beyond = "runs; as good as the factors that were found",
       .paper = "Ding et al. 2024, \"LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens\", "
                "arXiv:2402.13753",
       .keys = {scaling_key, factor_key, original_key, "positional.rope.long_factors",
                "positional.rope.short_factors", "positional.rope.keep_first"}},
  };
}

}  // namespace

std::span<const WrapperKind> rope_scaling_rows() {
  static const bool built = std::ranges::find(built_kinds(), "rope") != built_kinds().end();
  static const std::vector<WrapperKind> rows = built ? scaling_rows() : std::vector<WrapperKind>{};
  return rows;
}

}  // namespace tapeline

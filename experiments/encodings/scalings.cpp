#include "experiments/encodings/scalings.h"

#include <fmt/format.h>

#include <algorithm>

#include "layers/positional/kinds_of_build.h"
#include "layers/positional/rope_scaling_options.h"
#include "train/config_table.h"

namespace tapeline {
namespace {

constexpr std::string_view acts_on_rope = "frequencies of rope";

/// The keys that a scaling looks at, its choice first.
std::vector<std::string_view> keys_of(std::string_view scaling) {
  std::vector<std::string_view> keys;
  const auto add = [&keys](std::string_view option) {
    keys.push_back(find_config_key(fmt::format("positional.rope.{}", option))->name);
  };
  add("scaling");
  for (const std::string_view option : options_of_scaling(scaling)) add(option);
  return keys;
}

std::vector<WrapperKind> scaling_rows() {
  std::vector<WrapperKind> rows = {
      {.name = "linear",
       .title = "RoPE with interpolated positions",
       .formula = "f_p' = f_p / s",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; neighbours come closer, and blur",
       .paper = "Chen, Wong, Chen, Tian 2023, \"Extending Context Window of Large Language Models via "
                "Positional Interpolation\", arXiv:2306.15595",
       .keys = {}},
      {.name = "ntk",
       .title = "RoPE with a larger base (NTK-aware)",
       .formula = "f_p' = (base s^(r/(r-2)))^(-2p/r): the fastest pair as it was, the slowest divided by s",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; pairs between are slowed by less",
       .paper = "bloc97 2023, \"NTK-Aware Scaled RoPE\"; Peng, Quesnelle, Fan, Shippole 2023, "
                "arXiv:2309.00071",
       .keys = {}},
      {.name = "dynamic_ntk",
       .title = "NTK-aware scaling that grows with the context",
       .formula = "as ntk, s = alpha L/L0 - (alpha - 1) for a context of L rows, L at least L0",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; unchanged up to the length L0",
       .paper = "emozilla 2023, \"Dynamically Scaled RoPE\"; Peng, Quesnelle, Fan, Shippole 2023, "
                "arXiv:2309.00071",
       .keys = {}},
      {.name = "ntk_by_parts",
       .title = "RoPE interpolated where pairs turn too seldom",
       .formula = "f_p' = (1 - g) f_p / s + g f_p, g = clamp((N_p - alpha) / (beta - alpha), 0, 1), "
                  "N_p = L0 f_p / 2 pi turns in the original length",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; fast pairs stay, slow ones are interpolated",
       .paper = "Peng, Quesnelle, Fan, Shippole 2023, \"YaRN: Efficient Context Window Extension of Large "
                "Language Models\", arXiv:2309.00071",
       .keys = {}},
      {.name = "yarn",
       .title = "NTK by parts with a temperature (YaRN)",
       .formula = "as ntk_by_parts, g falls from 1 to 0 between the pairs of beta_fast and beta_slow turns; "
                  "cosines and sines times (0.1 ln s + 1) attention_factor",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; as ntk_by_parts, scores sharper",
       .paper = "Peng, Quesnelle, Fan, Shippole 2023, \"YaRN: Efficient Context Window Extension of Large "
                "Language Models\", arXiv:2309.00071",
       .keys = {}},
      {.name = "llama3",
       .title = "the scaling of Llama 3",
       .formula = "as ntk_by_parts with alpha = low, beta = high",
       .acts_on = acts_on_rope,
       .parameters = "none",
       .beyond = "runs; fast pairs stay, slow ones are interpolated",
       .paper = "Llama team 2024, \"The Llama 3 Herd of Models\", arXiv:2407.21783",
       .keys = {}},
      {.name = "longrope",
       .title = "RoPE with a factor for each pair (LongRoPE)",
       .formula = "f_p' = f_p / lambda_p, other lambda above the original length than up to it; the first "
                  "keep_first positions as they were; cosines and sines times sqrt(1 + ln s / ln L0)",
       .acts_on = acts_on_rope,
       .parameters = "none; the factors are searched, not trained",
       .beyond = "runs; as good as the factors that were found",
       .paper = "Ding et al. 2024, \"LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens\", "
                "arXiv:2402.13753",
       .keys = {}},
  };
  for (WrapperKind& row : rows) row.keys = keys_of(row.name);
  return rows;
}

}  // namespace

std::span<const WrapperKind> rope_scaling_rows() {
  static const bool built = std::ranges::find(built_kinds(), "rope") != built_kinds().end();
  static const std::vector<WrapperKind> rows = built ? scaling_rows() : std::vector<WrapperKind>{};
  return rows;
}

}  // namespace tapeline

#include "experiments/claims/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/claims/made_up.h"
#include "experiments/claims/subjects.h"
#include "experiments/encodings/probe.h"

namespace tapeline {
namespace {

constexpr double wavelength_error = 1e-4;  // relative error of a wavelength that is read from rounded tables

bool near_to(double value, double wanted) { return std::abs(value / wanted - 1) < wavelength_error; }

/// Cosines and sines of rows 0 .. rows-1 in a context declared to become `context` long.
std::vector<double> rotation_tables(const EncodingView& view, Index rows, Index context) {
  Probe probe(context);
  const PassPositions all = rows_seen(probe, view.encoding(0), rows);
  const Rotation rotation = view.encoding(0).rotation(probe.pass, Role::key, all.key, all, 0);
  std::vector<double> numbers;
  for (const Var table : {rotation.cosine, rotation.sine}) {
    const Tensor values = table.value();
    numbers.insert(numbers.end(), values.data, values.data + values.size());
  }
  return numbers;
}

struct Parts {
  Index kept = 0, between = 0, whole = 0;
};
Parts parts_of(const EncodingView& scaled, const EncodingView& plain, double factor) {
  Parts parts;
  for (const double growth : wavelength_growth(scaled, plain)) {
    ++(near_to(growth, 1) ? parts.kept : near_to(growth, factor) ? parts.whole : parts.between);
  }
  return parts;
}
std::string parts_text(const Parts& parts) {
  return fmt::format("kept {}, slowed in part {}, by the whole factor {} of {} pairs", parts.kept,
                     parts.between, parts.whole, parts.kept + parts.between + parts.whole);
}

ModelPlan scaled_plan(const std::string& scaling, Index head_width = 128, Index train_length = 4096) {
  ModelPlan plan = with_kind_option(claim_plan("rope", 2 * head_width, 2, train_length), "scaling", scaling);
  // dynamic_ntk takes its factor from the context.
  return scaling == "none" || scaling == "dynamic_ntk" ? plan
                                                       : with_kind_option(plan, "factor", std::string("4"));
}

std::vector<Token> counted_tokens(Index count) {
  std::vector<Token> tokens;
  for (Index row = 0; row < count; ++row) {
    tokens.push_back(static_cast<Token>(
        random_below(random_key(0, "tokens of claims"), static_cast<std::uint64_t>(row), 256)));
  }
  return tokens;
}

/// How far the first rows of a window of 4 L are from those of a window of L, in units of their root mean
/// square.
double prefix_change(const ModelPlan& plan) {
  const Transformer model = stirred_model(plan);
  const std::vector<double> alone = hidden_rows(model, counted_tokens(plan.train_length));
  std::vector<double> within = hidden_rows(model, counted_tokens(4 * plan.train_length));
  within.resize(alone.size());
  return largest_difference(alone, within) / root_mean_square(alone);
}

}  // namespace

std::vector<double> wavelength_growth(const EncodingView& scaled, const EncodingView& plain) {
  const std::vector<double> after = view_rotation(scaled, 0, 2).value().wavelengths;
  const std::vector<double> before = view_rotation(plain, 0, 2).value().wavelengths;
  std::vector<double> growth(after.size());
  std::ranges::transform(after, before, growth.begin(), [](double a, double b) { return a / b; });
  return growth;
}

ClaimFinding scaling_keeps_the_fastest(const EncodingView& scaled, const EncodingView& plain, double factor) {
  const std::vector<double> growth = wavelength_growth(scaled, plain);
  const bool holds = near_to(growth.front(), 1) && near_to(growth.back(), factor);
  return {holds ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("factor {:g}: the wavelength of the fastest pair × {:.4f}, of the slowest × {:.4f} ({} "
                      "pairs)",
                      factor, growth.front(), growth.back(), growth.size())};
}

ClaimFinding scaling_slows_all(const EncodingView& scaled, const EncodingView& plain, double factor) {
  const std::vector<double> growth = wavelength_growth(scaled, plain);
  const auto [least, most] = std::ranges::minmax(growth);
  return {near_to(least, factor) && near_to(most, factor) ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("factor {:g}: wavelengths of {} pairs × {:.4f} to × {:.4f}", factor, growth.size(),
                      least, most)};
}

ClaimFinding scaling_goes_by_parts(const EncodingView& scaled, const EncodingView& plain, double factor,
                                   const EncodingView& small_scaled, const EncodingView& small_plain) {
  const Parts parts = parts_of(scaled, plain, factor);
  return {
      parts.kept > 0 && parts.whole > 0 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("trained at {}: {}; at {}: {}", plain.plan().train_length, parts_text(parts),
                  small_plain.plan().train_length, parts_text(parts_of(small_scaled, small_plain, factor)))};
}

ClaimFinding scaling_holds_temperature(const EncodingView& scaled, double factor) {
  const double magnitude = view_rotation(scaled, 0, 2).value().magnitude;
  const double wanted = 0.1 * std::log(factor) + 1;
  return {std::abs(magnitude - wanted) < 1e-5 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("factor {:g}: the tables multiply q·k by {:.4f}; (0.1 ln s + 1)² = {:.4f}", factor,
                      magnitude * magnitude, wanted * wanted)};
}

ClaimFinding scaling_spares_short_contexts(const EncodingView& scaled, const EncodingView& plain) {
  const Index trained = scaled.plan().train_length;
  const double within =
      largest_difference(rotation_tables(scaled, trained, trained), rotation_tables(plain, trained, trained));
  const double past = largest_difference(rotation_tables(scaled, trained, 4 * trained),
                                         rotation_tables(plain, trained, 4 * trained));
  return {within == 0 && past > 0 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("largest difference from plain tables {:.2g} in a context of {}, {:.2g} in one of {}",
                      within, trained, past, 4 * trained)};
}

ClaimFinding prefix_is_kept(const ModelPlan& scaled, const ModelPlan& plain) {
  const double change = prefix_change(scaled), of_plain = prefix_change(plain);
  return {
      change <= 1e-4 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("the first {} rows change by up to {:.2g} of their rms in a window of {}; under plain RoPE "
                  "by {:.2g}",
                  scaled.train_length, change, 4 * scaled.train_length, of_plain)};
}

std::vector<Claim> scaling_claims() {
  return {
      {.id = "ntk-ends",
       .statement = "NTK-aware scaling leaves the fastest pair as it was and interpolates the slowest by the "
                    "whole factor",
       .source = "Peng et al. 2023 (YaRN), arXiv:2309.00071, section 3.1; bloc97's post, 2023",
       .computed = "Wavelengths of 64 pairs under ntk with factor 4 against plain RoPE, from the rotation "
                   "tables. True if the first grows × 1 and the last × 4, within 1e-4.",
       .kinds = {"rope"},
       .compute =
           [] {
             return scaling_keeps_the_fastest(EncodingView(scaled_plan("ntk")),
                                              EncodingView(scaled_plan("none")), 4);
           }},
      {.id = "interpolation-all-pairs",
       .statement = "Position interpolation slows every pair alike, the fast ones that tell neighbours apart "
                    "too",
       .source = "Chen et al. 2023, arXiv:2306.15595; Peng et al. 2023, arXiv:2309.00071, section 3.1",
       .computed =
           "Wavelengths of 64 pairs under linear with factor 4 against plain RoPE. True if all grow × 4, "
           "within 1e-4 of that.",
       .kinds = {"rope"},
       .compute =
           [] {
             return scaling_slows_all(EncodingView(scaled_plan("linear")), EncodingView(scaled_plan("none")),
                                      4);
           }},
      {.id = "yarn-parts",
       .statement = "YaRN leaves fast pairs alone and interpolates slow ones",
       .source = "Peng et al. 2023 (YaRN), arXiv:2309.00071, section 3.2",
       .computed =
           "Wavelengths under yarn with factor 4 against plain RoPE: 64 pairs trained at 4096, and 16 pairs "
           "trained at 64. True if in the first some stay and some grow × 4.",
       .kinds = {"rope"},
       .compute =
           [] {
             return scaling_goes_by_parts(
                 EncodingView(scaled_plan("yarn")), EncodingView(scaled_plan("none")), 4,
                 EncodingView(scaled_plan("yarn", 32, 64)), EncodingView(scaled_plan("none", 32, 64)));
           }},
      {.id = "yarn-temperature",
       .statement = "YaRN's temperature needs no change of the attention: the rotation tables hold it",
       .source = "Peng et al. 2023 (YaRN), arXiv:2309.00071, section 3.4",
       .computed = "What equal vectors keep of their product at distance 0 under yarn with factor 4. True if "
                   "it is (0.1 ln 4 + 1)², within 1e-5.",
       .kinds = {"rope"},
       .compute = [] { return scaling_holds_temperature(EncodingView(scaled_plan("yarn")), 4); }},
      {.id = "dynamic-ntk-short",
       .statement = "Dynamic NTK leaves contexts up to the trained length exactly as they are",
       .source = "emozilla's post, 2023; Peng et al. 2023 (YaRN), arXiv:2309.00071, section 3.3",
       .computed =
           "The rotation tables of the first 64 rows, trained at 64, in a declared context of 64 and of 256, "
           "against those of plain RoPE. True if the first are equal and the second not.",
       .kinds = {"rope"},
       .compute =
           [] {
             return scaling_spares_short_contexts(EncodingView(scaled_plan("dynamic_ntk", 32, 64)),
                                                  EncodingView(scaled_plan("none", 32, 64)));
           }},
      {.id = "dynamic-ntk-prefix",
       .statement = "Dynamic NTK changes only what stands past the trained length",
       .source = "circulating; why its keys are cached unrotated: huggingface/transformers#25104",
       .computed = "A model with random weights, trained length 64, on windows of 64 and of 256 that begin "
                   "alike. True if their first 64 rows are equal within 1e-4 of their root mean square.",
       .kinds = {"rope"},
       .compute =
           [] { return prefix_is_kept(scaled_plan("dynamic_ntk", 32, 64), scaled_plan("none", 32, 64)); }},
  };
}

}  // namespace tapeline

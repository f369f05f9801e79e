#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "experiments/claims/evidence.h"
#include "experiments/claims/subjects.h"
#include "experiments/compare/plan.h"

/// Claims about trained models whose positions are changed afterwards, without tuning: evaluations of their
/// own in a comparison.
namespace tapeline {
namespace {

/// A plain RoPE model, and the first evaluation of it under a scaling that was done at a longer length.
struct ScaledRope {
  std::string variant, evaluation;
  std::vector<Index> lengths;  ///< above the trained one
};

std::optional<ScaledRope> scaled_rope(const Comparison& comparison, std::string_view scaling) {
  const std::optional<std::string> variant = plain_variant(comparison, "rope");
  if (!variant) return std::nullopt;
  const Index trained = trained_length_of(comparison, *variant);
  for (const std::string& name :
       evaluations_that_set(comparison, "positional.rope.", "positional.rope.scaling", scaling)) {
    ScaledRope found{*variant, name, evaluated_lengths(comparison, *variant, name)};
    std::erase_if(found.lengths, [&](Index length) { return length <= trained; });
    if (!found.lengths.empty()) return found;
  }
  return std::nullopt;
}

ClaimFinding no_scaling(std::string_view scaling) {
  return lacking(
      fmt::format("no plain rope model that uses its context was evaluated under {} past its "
                  "trained length",
                  scaling));
}

/// One scaling less another, at the longest length of both up to 4 times the trained one.
ClaimFinding judge_scalings(const Comparison& comparison, std::string_view one, std::string_view other,
                            bool supported_elsewhere) {
  const std::optional<ScaledRope> first = scaled_rope(comparison, one),
                                  second = scaled_rope(comparison, other);
  if (!first || !second) return no_scaling(first ? other : one);
  const Index trained = trained_length_of(comparison, first->variant);
  const Index length = longest_common(first->lengths, second->lengths, trained, 4);
  if (length == 0)
    return lacking(fmt::format("{} and {} at no common length up to {}", one, other, 4 * trained));
  const Estimate lead = paired_difference(losses_at(comparison, first->variant, length, first->evaluation),
                                          losses_at(comparison, second->variant, length, second->evaluation));
  return trained_finding(lead, {ClaimSide::below, 0, supported_elsewhere},
                         fmt::format("{} less {} at {}, trained at {}: {}", first->evaluation,
                                     second->evaluation, length, trained, nats_text(lead)));
}

/// Linear interpolation at the shortest longer length less what the question compares it with.
ClaimFinding judge_interpolation(const Comparison& comparison, bool against_trained_length,
                                 const ClaimQuestion& question) {
  const std::optional<ScaledRope> linear = scaled_rope(comparison, "linear");
  if (!linear) return no_scaling("linear");
  const Index trained = trained_length_of(comparison, linear->variant);
  const Index length = linear->lengths.front();
  const Index other = against_trained_length ? trained : length;
  const Estimate change =
      paired_difference(losses_at(comparison, linear->variant, length, linear->evaluation),
                        losses_at(comparison, linear->variant, other));
  return trained_finding(change, question,
                         fmt::format("{} at {} less plain {} at {}, trained at {}: {}", linear->evaluation,
                                     length, linear->variant, other, trained, nats_text(change)));
}

/// Log-n scaling, the mean over the variants that were evaluated with it, at the longest length up to 8 times
/// the trained one.
ClaimFinding judge_logn(const Comparison& comparison) {
  std::map<std::uint64_t, std::vector<double>> of_seed;
  std::vector<std::string> told;
  for (const std::string& evaluation :
       evaluations_that_set(comparison, "positional.score.", "positional.score.scale", "logn")) {
    for (const Variant& variant : all_variants(comparison.config)) {
      const Index trained = trained_length_of(comparison, variant.name);
      const Index length = longest_common(evaluated_lengths(comparison, variant.name, evaluation),
                                          evaluated_lengths(comparison, variant.name), trained, 8);
      if (length == 0 || !uses_context(comparison, variant.name)) continue;
      const BySeed plain = losses_at(comparison, variant.name, length);
      BySeed change;
      for (const auto& [seed, loss] : losses_at(comparison, variant.name, length, evaluation)) {
        if (plain.contains(seed)) change[seed] = loss - plain.at(seed);
      }
      for (const auto& [seed, value] : change) of_seed[seed].push_back(value);
      told.push_back(fmt::format("{} {:+.3f} at {}", variant.name, estimate_over_seeds(change).mean, length));
    }
  }
  BySeed means;
  for (const auto& [seed, values] : of_seed) {
    double sum = 0;
    for (const double value : values) sum += value;
    means[seed] = sum / static_cast<double>(values.size());
  }
  if (means.empty())
    return lacking(
        "no model that uses its context was evaluated under log-n scaling past "
        "its trained length");
  const Estimate change = estimate_over_seeds(means);
  return trained_finding(
      change, {ClaimSide::below, 0, true},
      fmt::format("with it less without: {} ({})", nats_text(change), fmt::join(told, ", ")));
}

}  // namespace

std::vector<Claim> after_training_claims() {
  constexpr std::string_view scaling_command = "tapeline compare --preset scaling";
  constexpr std::string_view with_logn =
      "tapeline compare --preset toy --set 'compare.evaluation=[{name = \"logn\", positional.score.scale = "
      "\"logn\"}]'";
  return {
      {.id = "ntk-beats-interpolation",
       .statement = "Without tuning, NTK-aware scaling beats position interpolation",
       .source = "bloc97's post, 2023; Peng et al. 2023 (YaRN), arXiv:2309.00071, section 3.1",
       .computed =
           "One RoPE model under both, at the longest length of both up to 4 times the trained one, seed by "
           "seed. True if the loss under ntk is lower.",
       .kinds = {"rope"},
       .judge =
           [](const Comparison& comparison) { return judge_scalings(comparison, "ntk", "linear", true); },
       .command = scaling_command},
      {.id = "yarn-beats-ntk",
       .statement = "Without tuning, YaRN beats NTK-aware scaling",
       .source = "circulating; against it, untuned, Ding et al. 2024 (LongRoPE), arXiv:2402.13753, table 1",
       .computed = "One RoPE model under both, at the longest length of both up to 4 times the trained one, "
                   "seed by seed. True if the loss under yarn is lower.",
       .kinds = {"rope"},
       .judge = [](const Comparison& comparison) { return judge_scalings(comparison, "yarn", "ntk", false); },
       .command = scaling_command},
      {.id = "interpolation-needs-tuning",
       .statement = "Position interpolation needs tuning",
       .source = "Chen et al. 2023, arXiv:2306.15595, section 3",
       .computed = "A RoPE model under linear at the shortest evaluated length past the trained one, against "
                   "itself at the trained length. True if perplexity is at least 5 % higher.",
       .kinds = {"rope"},
       .judge =
           [](const Comparison& comparison) {
             return judge_interpolation(comparison, true, {ClaimSide::above, std::log(1.05), true});
           },
       .command = scaling_command},
      {.id = "interpolation-helps",
       .statement = "Even without tuning, position interpolation is better than plain RoPE past its length",
       .source = "Chen et al. 2023, arXiv:2306.15595, section 3",
       .computed =
           "A RoPE model under linear and as it was trained, at the shortest evaluated length past the "
           "trained one, seed by seed. True if the loss under linear is lower.",
       .kinds = {"rope"},
       .judge =
           [](const Comparison& comparison) {
             return judge_interpolation(comparison, false, {ClaimSide::below, 0, true});
           },
       .command = scaling_command},
      {.id = "logn-helps",
       .statement = "log-n scaling helps past the trained length",
       .source = "Su 2021, kexue.fm/archives/8823; Chiang, Cholak 2022, arXiv:2202.12172",
       .computed =
           "Models evaluated with and without log-n scaling at the longest length of both up to 8 times the "
           "trained one; the mean over variants, seed by seed. True if the loss with it is lower.",
       .judge = judge_logn,
       .command = with_logn},
  };
}

}  // namespace tapeline

#include <fmt/format.h>

#include <cmath>

#include "experiments/claims/evidence.h"
#include "experiments/claims/subjects.h"
#include "train/residual.h"

/// Claims about what a loss past the trained length means.
namespace tapeline {
namespace {

constexpr double flat_ratio = 1.02;       // of perplexities: up to here a model "stays flat"
constexpr double use_of_context = 0.005;  // nats a token: a smaller gain is none

/// Sliding windows, on the subset; stride 0: the one there is.
BySeed sliding(const Comparison& comparison, const std::string& variant, Index length, Index stride) {
  return losses(comparison, variant, trained_evaluation,
                {.protocol = Protocol::sliding, .length = length, .stride = stride, .subset = true});
}
/// What the models of a variant have at a length beside a smaller share of early tokens.
BySeed residuals(const Comparison& comparison, const std::string& variant, Index trained, Index length) {
  BySeed found;
  for (const FinishedCell& cell : comparison.cells) {
    if (cell.variant != variant) continue;
    const std::vector<EvaluationResult> results = cell.record.results_of(trained_evaluation);
    if (const auto residual = curse_only_residual(results, trained, length)) found[cell.seed] = *residual;
  }
  return found;
}

/// A model whose loss does not rise: the variant, and the longest length that it was evaluated at by sliding
/// windows as well, up to 8 times the trained one.
struct FlatModel {
  std::string variant;
  Index trained = 0, length = 0;
  Estimate change;  ///< non-overlapping, in nats a token
};

std::optional<FlatModel> flattest_model(const Comparison& comparison) {
  std::optional<FlatModel> flattest;
  for (const Variant& variant : all_variants(comparison.config)) {
    if (!uses_context(comparison, variant.name)) continue;
    FlatModel model{variant.name, trained_length_of(comparison, variant.name), 0, {}};
    const BySeed at_trained = losses_at(comparison, model.variant, model.trained);
    for (const Index length : evaluated_lengths(comparison, model.variant)) {
      if (length <= model.trained || length > 8 * model.trained) continue;
      if (sliding(comparison, model.variant, length, 0).empty()) continue;
      model.length = length;
      model.change = paired_difference(losses_at(comparison, model.variant, length), at_trained);
    }
    if (model.length == 0 || model.change.count == 0) continue;
    if (sliding(comparison, model.variant, model.trained, 1).empty()) continue;
    if (!flattest || model.change.mean < flattest->change.mean) flattest = model;
  }
  return flattest;
}

ClaimFinding judge_flatness(const Comparison& comparison) {
  const std::optional<FlatModel> model = flattest_model(comparison);
  if (!model)
    return lacking(
        "no model that uses its context was evaluated by sliding windows past its trained length, "
        "and with stride 1 at it");
  if (model->change.mean > std::log(flat_ratio)) {
    return lacking(fmt::format("no model here stays flat; the flattest, {}, changes by {}", model->variant,
                               nats_text(model->change)));
  }
  // With full history at both lengths: what is left is what the longer history gives.
  const Estimate gain = paired_difference(sliding(comparison, model->variant, model->trained, 1),
                                          sliding(comparison, model->variant, model->length, 0));
  return trained_finding(
      gain, {ClaimSide::above, use_of_context, false},
      fmt::format(
          "{} from {} to {}, non-overlapping: {}; with full history at both it gains {:+.4f}{} nats a token; "
          "asked: at least {:+g}",
          model->variant, model->trained, model->length, nats_text(model->change), gain.mean,
          gain.count > 1 ? fmt::format(" ±{:.4f}", gain.half_width) : std::string(), use_of_context));
}

/// |observed - predicted| of the loss in longer non-overlapping windows; see curse_only_residual().
ClaimFinding judge_early_tokens(const Comparison& comparison) {
  const std::optional<std::string> variant = plain_variant(comparison, "alibi");
  if (!variant) return lacking_plain(comparison, "alibi");
  const Index trained = trained_length_of(comparison, *variant);
  Index length = 0;
  BySeed residual;
  for (const Index candidate : evaluated_lengths(comparison, *variant)) {
    if (candidate <= trained || candidate > 4 * trained) continue;
    BySeed left = residuals(comparison, *variant, trained, candidate);
    if (left.empty()) continue;
    length = candidate;
    residual = std::move(left);
  }
  if (length == 0)
    return lacking(fmt::format("{} was not evaluated by both protocols past {}", *variant, trained));
  const Estimate found = estimate_over_seeds(residual);
  // The interval must lie within ±0.015: that of the size, as wide, below it.
  constexpr double most = 0.015;
  const Estimate size{.count = found.count, .mean = std::abs(found.mean), .half_width = found.half_width};
  return trained_finding(
      size, {ClaimSide::below, most, true},
      fmt::format("{} at {}, trained at {}: observed less predicted {}; asked: within ±{:g}", *variant,
                  length, trained, nats_text(found), most));
}

/// A model with ALiBi at a length that it was not trained at, less one with sinusoids that was.
ClaimFinding judge_short_training(const Comparison& comparison) {
  std::string long_one, short_one;
  Index longest = 0, shorter = 0;
  for (const std::string& reference : plain_variants(comparison, "sinusoidal")) {
    const Index length = trained_length_of(comparison, reference);
    for (const std::string& candidate : plain_variants(comparison, "alibi")) {
      const Index trained = trained_length_of(comparison, candidate);
      if (trained >= length || losses_at(comparison, candidate, length).empty()) continue;
      if (!uses_context(comparison, candidate) || !uses_context(comparison, reference)) continue;
      if (losses_at(comparison, reference, length).empty()) continue;
      if (length < longest || (length == longest && trained <= shorter)) continue;
      long_one = reference, longest = length;
      short_one = candidate, shorter = trained;
    }
  }
  if (long_one.empty()) {
    return lacking(
        "no alibi model evaluated at the trained length of a sinusoidal model that was trained longer");
  }
  const Estimate lead =
      paired_difference(losses_at(comparison, short_one, longest), losses_at(comparison, long_one, longest));
  return trained_finding(lead, {ClaimSide::below, 0, true},
                         fmt::format("{} trained at {} less {} trained at {}, both at {}: {}", short_one,
                                     shorter, long_one, longest, longest, nats_text(lead)));
}

}  // namespace

std::vector<Claim> context_claims() {
  return {
      {.id = "flat-means-context",
       .statement =
           "A perplexity that stays flat past the trained length shows that the longer context is used",
       .source = "circulating; against it Press et al. 2022, arXiv:2108.12409, appendix B",
       .computed =
           "Of the model whose loss in non-overlapping windows rises least (perplexity by at most 2 %), the "
           "sliding loss with full history: at the trained length with stride 1, less that at the longest "
           "length up to 8 times it, on the same targets. True if the longer history gains 0.005 nats a "
           "token or more.",
       .judge = judge_flatness,
       .command = "tapeline compare --preset toy --encodings alibi"},
      {.id = "alibi-early-tokens",
       .statement =
           "What ALiBi gains in longer non-overlapping windows is only a smaller share of early tokens",
       .source = "Press et al. 2022 (ALiBi), arXiv:2108.12409, appendix B",
       .computed =
           "With s the sliding loss at the trained length L (stride 1) and g how much higher non-overlapping "
           "windows of L are, s + g n(T)/n(L) is predicted in windows of T, n(T) and n(L) how many windows "
           "there are. True if the observed loss, at the longest length up to 4 L, lies within 0.015 nats a "
           "token of it.",
       .kinds = {"alibi"},
       .judge = judge_early_tokens,
       .command = "tapeline compare --preset toy --encodings alibi"},
      {.id = "train-short-test-long",
       .statement = "ALiBi trained short is as good on long windows as sinusoids trained on them",
       .source = "Press et al. 2022 (ALiBi), arXiv:2108.12409, section 4",
       .computed =
           "The loss of ALiBi in windows of a length that sinusoids were trained at and ALiBi was not, less "
           "that of these sinusoids, seed by seed; the longest such length, ALiBi with the longest shorter "
           "training. True if it is not higher.",
       .kinds = {"alibi", "sinusoidal"},
       .judge = judge_short_training,
       .command = "tapeline compare --preset paper-grid"},
  };
}

}  // namespace tapeline

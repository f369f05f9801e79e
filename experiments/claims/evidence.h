#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/claims/claim.h"
#include "experiments/compare/comparison.h"
#include "experiments/statistics/estimate.h"

/// What the trained models of a comparison say to a claim.
namespace tapeline {

/// Which side of a bound a statement is on.
enum class ClaimSide { below, above };

/// What a statement about trained models asks: a quantity, one value a seed, to be on one side of a bound.
struct ClaimQuestion {
  ClaimSide side = ClaimSide::below;
  double bound = 0;
  /// Whether published results of larger models are on the side of the statement.
  bool supported_elsewhere = false;
};

/// The rule of every verdict on trained models. Let I be the 95 % t-interval of the quantity over seeds; with
/// one seed the value alone, and the figure says "one seed".
///   I whole on the side of the statement (the bound counts as on it)   true
///   I whole on the other side, and published results agree with that   false
///   I whole on the other side, and published results of larger models are on the statement's side:
///                                                                      not at this scale
///   the bound inside I: these seeds do not settle it                   not at this scale
ClaimVerdict trained_verdict(const Estimate& quantity, const ClaimQuestion& question);
/// Whether the bound lies inside the interval.
bool is_unsettled(const Estimate& quantity, const ClaimQuestion& question);
/// The verdict, with "these seeds do not settle it" behind the figure where that is so.
ClaimFinding trained_finding(const Estimate& quantity, const ClaimQuestion& question, std::string figure);
/// Of a comparison that lacks what a claim is about.
ClaimFinding lacking(std::string what);

/// Plain variants of that kind (see is_plain()) of which models were trained, in the order of the plan.
std::vector<std::string> plain_variants(const Comparison& comparison, std::string_view kind);
/// The first of them whose models use their context; nullopt: there is none.
std::optional<std::string> plain_variant(const Comparison& comparison, std::string_view kind);
/// Whether the models of a variant do better with more before them: at the trained length, in the mean over
/// seeds, the loss of the later half of a window is at least 0.1 nats a token below that of its first
/// position. Where they have hardly been trained no encoding shows an effect, and a loss that stays the same
/// past the trained length says nothing. What was not measured counts as used.
bool uses_context(const Comparison& comparison, std::string_view variant);
/// What to say where plain_variant() finds none.
ClaimFinding lacking_plain(const Comparison& comparison, std::string_view kind);
/// Names of evaluations whose only changes are below `section` ("positional.rope."), `key` among them with
/// that value.
std::vector<std::string> evaluations_that_set(const Comparison& comparison, std::string_view section,
                                              std::string_view key, std::string_view value);

/// The trained length of a variant; 0: there is none.
Index trained_length_of(const Comparison& comparison, std::string_view variant);
/// Losses in nats a token of what was evaluated there with status "ok"; `stride` 0: any, the first there is.
BySeed losses(const Comparison& comparison, std::string_view variant, std::string_view evaluation,
              const EvaluationCell& cell);
/// Non-overlapping, on the whole scored set, as trained.
BySeed losses_at(const Comparison& comparison, std::string_view variant, Index length,
                 std::string_view evaluation = trained_evaluation);
/// Lengths at which such losses exist, ascending.
std::vector<Index> evaluated_lengths(const Comparison& comparison, std::string_view variant,
                                     std::string_view evaluation = trained_evaluation);
/// The longest length above `trained`, up to `most` times it, that stands in both lists; 0: none.
Index longest_common(const std::vector<Index>& one, const std::vector<Index>& other, Index trained,
                     Index most);

/// one / other, of the seeds that both have.
Estimate paired_ratio(const BySeed& one, const BySeed& other);

/// "+0.123 ±0.010 nats a token (perplexity × 1.131), 3 seeds"; with one seed "…, one seed".
std::string nats_text(const Estimate& difference);
/// "1.02 ±0.01, 3 seeds".
std::string ratio_text(const Estimate& ratio);

}  // namespace tapeline

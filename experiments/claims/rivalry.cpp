#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/claims/evidence.h"
#include "experiments/claims/subjects.h"
#include "experiments/compare/speeds.h"
#include "layers/positional/kinds_of_build.h"

/// Claims that set one encoding against another, seed by seed: the models of a seed have equal shared weights
/// at the start and saw the same batches.
namespace tapeline {
namespace {

/// Whether a model of `kind` does better than one of `other` at the longest length that both were evaluated
/// at, up to `most` trained lengths.
struct Rivals {
  std::string_view kind, other;
  Index most = 8;
};

ClaimFinding judge_rivals(const Comparison& comparison, const Rivals& rivals) {
  const std::optional<std::string> one = plain_variant(comparison, rivals.kind);
  const std::optional<std::string> other = plain_variant(comparison, rivals.other);
  if (!one || !other) {
    return lacking_plain(comparison, one ? rivals.other : rivals.kind);
  }
  const Index trained = trained_length_of(comparison, *one);
  const Index length = longest_common(evaluated_lengths(comparison, *one),
                                      evaluated_lengths(comparison, *other), trained, rivals.most);
  if (length == 0 || trained_length_of(comparison, *other) != trained) {
    return lacking(
        fmt::format("{} and {} were evaluated at no common length above {}", *one, *other, trained));
  }
  const Estimate lead =
      paired_difference(losses_at(comparison, *one, length), losses_at(comparison, *other, length));
  return trained_finding(
      lead, {ClaimSide::below, 0, true},
      fmt::format("{} less {} at {}, trained at {}: {}", *one, *other, length, trained, nats_text(lead)));
}

/// Every plain variant of the trained length of `variant` but itself, one a kind.
std::vector<std::string> rivals_of(const Comparison& comparison, const std::string& variant) {
  std::vector<std::string> others;
  for (const std::string_view kind : built_kinds()) {
    const std::optional<std::string> other = plain_variant(comparison, kind);
    if (!other || *other == variant) continue;
    if (trained_length_of(comparison, *other) == trained_length_of(comparison, variant))
      others.push_back(*other);
  }
  return others;
}

/// At the trained length, against the best of the others by its mean over seeds; `margin` in nats a token.
ClaimFinding judge_against_best(const Comparison& comparison, std::string_view kind, double margin) {
  const std::optional<std::string> variant = plain_variant(comparison, kind);
  if (!variant) return lacking_plain(comparison, kind);
  const Index trained = trained_length_of(comparison, *variant);
  const BySeed own = losses_at(comparison, *variant, trained);
  std::string best;
  Estimate behind{.count = 0, .mean = -std::numeric_limits<double>::infinity()};
  for (const std::string& other : rivals_of(comparison, *variant)) {
    const Estimate difference = paired_difference(own, losses_at(comparison, other, trained));
    if (difference.count == 0 || difference.mean <= behind.mean) continue;
    behind = difference;
    best = other;
  }
  if (best.empty()) return lacking(fmt::format("nothing beside {} at its trained length", *variant));
  return trained_finding(behind, {ClaimSide::below, margin, true},
                         fmt::format("{} less {}, the best of the others at {}: {}; asked: at most {:g}",
                                     *variant, best, trained, nats_text(behind), margin));
}

/// Largest less least loss at the trained length, over the kinds that the statement is about.
ClaimFinding judge_spread(const Comparison& comparison) {
  std::vector<std::string> names;
  std::vector<BySeed> all;
  Index trained = 0;
  for (const std::string_view kind : {"learned", "sinusoidal", "rope", "alibi"}) {
    const std::optional<std::string> variant = plain_variant(comparison, kind);
    if (!variant) continue;
    if (trained == 0) trained = trained_length_of(comparison, *variant);
    if (trained_length_of(comparison, *variant) != trained) continue;
    BySeed own = losses_at(comparison, *variant, trained);
    if (own.empty()) continue;
    names.push_back(*variant);
    all.push_back(std::move(own));
  }
  if (all.size() < 2)
    return lacking("fewer than two of learned, sinusoidal, rope and alibi in this comparison");
  BySeed lowest = all.front(), highest = all.front();
  for (const BySeed& one : all) {
    std::erase_if(lowest, [&](const auto& entry) { return !one.contains(entry.first); });
    for (auto& [seed, loss] : lowest) {
      loss = std::min(loss, one.at(seed));
      highest[seed] = std::max(highest[seed], one.at(seed));
    }
  }
  const Estimate spread = paired_difference(highest, lowest);
  return trained_finding(spread, {ClaimSide::below, 0.05, true},
                         fmt::format("highest less lowest of {} at {}: {}; asked: at most +0.05",
                                     fmt::join(names, ", "), trained, nats_text(spread)));
}

ClaimFinding judge_speed(const Comparison& comparison, std::string_view kind, const ClaimQuestion& question) {
  const std::optional<std::string> one = plain_variant(comparison, kind);
  const std::optional<std::string> other = plain_variant(comparison, "sinusoidal");
  if (!one || !other) {
    return lacking_plain(comparison, one ? "sinusoidal" : kind);
  }
  const SpeedPairs speeds = speed_pairs(comparison, *one, *other);
  const Estimate ratio = paired_ratio(speeds.one, speeds.other);
  if (ratio.count == 0)
    return lacking(speeds.apart ? speeds_apart : "no seed has the training speed of both");
  return trained_finding(
      ratio, question,
      fmt::format("tokens a second of training, {} over {}: {}; asked: at {} {:g}", *one, *other,
                  ratio_text(ratio), question.side == ClaimSide::above ? "least" : "most", question.bound));
}

}  // namespace

std::vector<Claim> rivalry_claims() {
  constexpr std::string_view at_longest =
      "Loss in non-overlapping windows at the longest length that both were evaluated at, up to 8 times the "
      "trained one, seed by seed. True if it is lower.";
  return {
      {.id = "alibi-best-at-length",
       .statement = "ALiBi is as good at its trained length as the best of the others",
       .source = "Press et al. 2022 (ALiBi), arXiv:2108.12409, tables 2-4, from length 512 on",
       .computed =
           "Loss at the trained length against that of the other plain model with the lowest mean, seed by "
           "seed. True if it is at most 0.01 nats a token higher.",
       .kinds = {"alibi"},
       .judge = [](const Comparison& comparison) { return judge_against_best(comparison, "alibi", 0.01); },
       .command = "tapeline compare --preset toy"},
      {.id = "rope-best-at-length",
       .statement = "RoPE is the best of all at its trained length",
       .source = "circulating; Kazemnejad et al. 2023, arXiv:2305.19466, appendix F: best of three",
       .computed =
           "Loss at the trained length against that of the other plain model with the lowest mean, seed by "
           "seed. True if it is not higher.",
       .kinds = {"rope"},
       .judge = [](const Comparison& comparison) { return judge_against_best(comparison, "rope", 0); },
       .command = "tapeline compare --preset toy"},
      {.id = "all-alike-at-length",
       .statement = "At the trained length encodings hardly differ",
       .source = "Haviv et al. 2022, arXiv:2203.16634; Press et al. 2022, arXiv:2108.12409, table 2",
       .computed =
           "Highest less lowest loss at the trained length among learned, sinusoidal, RoPE and ALiBi, seed "
           "by seed. True if it is at most 0.05 nats a token.",
       .judge = judge_spread,
       .command = "tapeline compare --preset toy"},
      {.id = "rope-beats-sinusoid",
       .statement = "Past the trained length RoPE does better than sinusoids",
       .source = "Press et al. 2022 (ALiBi), arXiv:2108.12409, section 2",
       .computed = at_longest,
       .kinds = {"rope", "sinusoidal"},
       .judge =
           [](const Comparison& comparison) {
             return judge_rivals(comparison, {.kind = "rope", .other = "sinusoidal"});
           },
       .command = "tapeline compare --preset toy --encodings rope,sinusoidal"},
      {.id = "t5-beats-rope",
       .statement = "Past the trained length T5's bias does better than RoPE",
       .source = "Press et al. 2022 (ALiBi), arXiv:2108.12409, section 2",
       .computed = at_longest,
       .kinds = {"t5", "rope"},
       .judge =
           [](const Comparison& comparison) {
             return judge_rivals(comparison, {.kind = "t5", .other = "rope"});
           },
       .command = "tapeline compare --preset toy --encodings t5,rope"},
      {.id = "kerple-beats-alibi",
       .statement = "Past the trained length KERPLE's logarithmic kernel does better than ALiBi",
       .source = "Chi et al. 2022 (KERPLE), arXiv:2205.09921, table 3",
       .computed = at_longest,
       .kinds = {"kerple_log", "alibi"},
       .judge =
           [](const Comparison& comparison) {
             return judge_rivals(comparison, {.kind = "kerple_log", .other = "alibi"});
           },
       .command = "tapeline compare --preset toy --encodings kerple_log,alibi"},
      {.id = "none-beats-alibi",
       .statement = "Past the trained length a model without positions does better than ALiBi",
       .source = "Kazemnejad et al. 2023, arXiv:2305.19466, on tasks of reasoning",
       .computed = "Loss in non-overlapping windows at the longest length that both were evaluated at, up to "
                   "twice the trained one, seed by seed. True if it is lower.",
       .kinds = {"none", "alibi"},
       .judge =
           [](const Comparison& comparison) {
             return judge_rivals(comparison, {.kind = "none", .other = "alibi", .most = 2});
           },
       .command = "tapeline compare --preset toy --encodings none,alibi"},
      {.id = "alibi-trains-faster",
       .statement = "ALiBi trains faster than sinusoids",
       .source =
           "circulating; in Press et al. 2022, arXiv:2108.12409, table 1, it does so only on shorter windows",
       .computed = "Tokens a second of training at one length, the median step of each model, seed by seed. "
                   "True if ALiBi is at least 2 % faster: less is the clock's noise.",
       .kinds = {"alibi", "sinusoidal"},
       .judge =
           [](const Comparison& comparison) {
             return judge_speed(comparison, "alibi", {ClaimSide::above, 1.02, false});
           },
       .command = "tapeline compare --preset toy --encodings alibi,sinusoidal"},
      {.id = "rope-trains-slower",
       .statement = "RoPE trains markedly slower than sinusoids",
       .source =
           "Press et al. 2022 (ALiBi), arXiv:2108.12409, table 1: 20.0 against 28.5 thousand words a second",
       .computed = "Tokens a second of training at one length, the median step of each model, seed by seed. "
                   "True if RoPE is at least 10 % slower.",
       .kinds = {"rope", "sinusoidal"},
       .judge =
           [](const Comparison& comparison) {
             return judge_speed(comparison, "rope", {ClaimSide::below, 0.9, false});
           },
       .command = "tapeline compare --preset toy --encodings rope,sinusoidal"},
  };
}

}  // namespace tapeline

#include <fmt/format.h>

#include <cmath>

#include "experiments/claims/evidence.h"
#include "experiments/claims/subjects.h"

/// Claims about one encoding past its trained length.
namespace tapeline {
namespace {

/// How a claim looks at one kind of model: its loss at a longer length against that at the trained one, non-
/// overlapping, within each model, on the same targets.
struct LengthQuestion {
  std::string_view kind;
  Index most = 8;         ///< the longest length looked at, in trained lengths
  double perplexity = 1;  ///< the bound, a ratio of perplexities
  ClaimSide side = ClaimSide::below;
  bool supported_elsewhere = false;
};

ClaimFinding judge_length(const Comparison& comparison, const LengthQuestion& question) {
  const std::optional<std::string> variant = plain_variant(comparison, question.kind);
  if (!variant) return lacking_plain(comparison, question.kind);
  const Index trained = trained_length_of(comparison, *variant);
  const std::vector<Index> lengths = evaluated_lengths(comparison, *variant);
  const Index length = longest_common(lengths, lengths, trained, question.most);
  if (length == 0) {
    return lacking(fmt::format("{} was evaluated at no length above {} up to {}", *variant, trained,
                               question.most * trained));
  }
  const Estimate change =
      paired_difference(losses_at(comparison, *variant, length), losses_at(comparison, *variant, trained));
  return trained_finding(
      change, {question.side, std::log(question.perplexity), question.supported_elsewhere},
      fmt::format("{} from {} to {}: {}; asked: at {} × {:g}", *variant, trained, length, nats_text(change),
                  question.side == ClaimSide::below ? "most" : "least", question.perplexity));
}

}  // namespace

std::vector<Claim> extrapolation_claims() {
  constexpr std::string_view holds_at_8 =
      "Loss in non-overlapping windows at the longest evaluated length up to 8 times the trained one, "
      "against that at the trained length, within each model. True if perplexity is at most 2 % higher.";
  constexpr std::string_view holds_at_2 =
      "Loss in non-overlapping windows at the longest evaluated length up to twice the trained one, against "
      "that at the trained length, within each model. True if perplexity is at most 2 % higher.";
  return {
      {.id = "rope-extrapolates",
       .statement = "Plain RoPE works well past its trained length",
       .source =
           "circulating: overviews and interview guides; against it Press et al. 2022, arXiv:2108.12409, "
           "section 2",
       .computed = holds_at_8,
       .kinds = {"rope"},
       .judge =
           [](const Comparison& comparison) {
             return judge_length(comparison, {.kind = "rope", .perplexity = 1.02});
           },
       .command = "tapeline compare --preset toy --encodings rope"},
      {.id = "alibi-extrapolates",
       .statement = "ALiBi needs no tuning past its trained length",
       .source = "Press et al. 2022 (ALiBi), arXiv:2108.12409, section 4",
       .computed = holds_at_8,
       .kinds = {"alibi"},
       .judge =
           [](const Comparison& comparison) {
             return judge_length(comparison,
                                 {.kind = "alibi", .perplexity = 1.02, .supported_elsewhere = true});
           },
       .command = "tapeline compare --preset toy --encodings alibi"},
      {.id = "sinusoid-fails",
       .statement = "Sinusoidal positions fall apart past the trained length",
       .source = "Press et al. 2022 (ALiBi), arXiv:2108.12409, section 2",
       .computed = "Loss in non-overlapping windows at the longest evaluated length up to 8 times the "
                   "trained one, against that at the trained length, within each model. True if perplexity "
                   "is at least 25 % higher.",
       .kinds = {"sinusoidal"},
       .judge =
           [](const Comparison& comparison) {
             return judge_length(comparison, {.kind = "sinusoidal",
                                              .perplexity = 1.25,
                                              .side = ClaimSide::above,
                                              .supported_elsewhere = true});
           },
       .command = "tapeline compare --preset toy --encodings sinusoidal"},
      {.id = "none-holds",
       .statement = "A model without positions still works a little past its trained length",
       .source = "Kazemnejad et al. 2023, arXiv:2305.19466, appendix F",
       .computed = "Loss in non-overlapping windows at the longest evaluated length up to twice the trained "
                   "one, against that at the trained length, within each model. True if perplexity is at "
                   "most 5 % higher.",
       .kinds = {"none"},
       .judge =
           [](const Comparison& comparison) {
             return judge_length(
                 comparison, {.kind = "none", .most = 2, .perplexity = 1.05, .supported_elsewhere = true});
           },
       .command = "tapeline compare --preset toy --encodings none"},
      {.id = "t5-extrapolates",
       .statement = "T5's bias works at twice its trained length",
       .source = "Press et al. 2022 (ALiBi), arXiv:2108.12409, table 2",
       .computed = holds_at_2,
       .kinds = {"t5"},
       .judge =
           [](const Comparison& comparison) {
             return judge_length(comparison,
                                 {.kind = "t5", .most = 2, .perplexity = 1.02, .supported_elsewhere = true});
           },
       .command = "tapeline compare --preset toy --encodings t5"},
      {.id = "kerple-extrapolates",
       .statement = "KERPLE's logarithmic kernel works well past its trained length",
       .source = "Chi et al. 2022 (KERPLE), arXiv:2205.09921, table 3",
       .computed = holds_at_8,
       .kinds = {"kerple_log"},
       .judge =
           [](const Comparison& comparison) {
             return judge_length(comparison,
                                 {.kind = "kerple_log", .perplexity = 1.02, .supported_elsewhere = true});
           },
       .command = "tapeline compare --preset toy --encodings kerple_log"},
      {.id = "xpos-extrapolates",
       .statement = "xPos works at twice its trained length",
       .source = "Sun et al. 2022 (LeX), arXiv:2212.10554, table 2, with blockwise attention",
       .computed = holds_at_2,
       .kinds = {"xpos"},
       .judge =
           [](const Comparison& comparison) {
             return judge_length(
                 comparison, {.kind = "xpos", .most = 2, .perplexity = 1.02, .supported_elsewhere = true});
           },
       .command = "tapeline compare --preset toy --encodings xpos"},
  };
}

}  // namespace tapeline

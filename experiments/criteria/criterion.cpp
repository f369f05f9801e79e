#include "experiments/criteria/criterion.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/criteria/findings.h"

namespace tapeline {
namespace {

struct Criterion {
  const char* id;
  const char* statement;
  Findings (*look)(const Evidence&, const Thresholds&);
  const char* otherwise;
};

constexpr const char* no_effect_of_positions =
    "models near the frequencies of bytes show no effect of positions: look at C12, train for longer";

constexpr Criterion all_criteria[] = {
    {"C1", "ALiBi improves with length in non-overlapping windows", alibi_improves,
     "the loss by position shows where it begins to lose"},
    {"C2", "ALiBi is flat with length in sliding windows", alibi_sliding_is_flat,
     "what stands farther back than in training disturbs it"},
    {"C3", "what ALiBi gains with length is the smaller share of early tokens", curse_only_gain,
     "below 0 ALiBi makes use of the longer context, above 0 it is disturbed by it"},
    {"C4", "sinusoidal positions fail past the trained length", sinusoidal_fails, no_effect_of_positions},
    {"C5", "RoPE stands between ALiBi and sinusoidal positions", rope_between, no_effect_of_positions},
    {"C6", "far out sinusoidal loses more than RoPE, RoPE more than ALiBi", order_far_out,
     no_effect_of_positions},
    {"C7", "a learned table refuses what is past its length", learned_refuses,
     "a table that goes on past its rows is a variant of its own (positional.learned.beyond)"},
    {"C8", "at the trained length learned, sinusoidal, RoPE and ALiBi are about equal",
     parity_at_trained_length,
     "encodings differ in how fast they learn, and after few steps the faster ones lead; train for longer "
     "before they are compared at L"},
    {"C9", "the early-token gap g is there, whatever the encoding", early_token_gap,
     "where g is below 0: with full history every target is the last of its window, and there that "
     "encoding is at its worst"},
    {"C10", "ALiBi trained short does as well as sinusoidal trained long", train_short_test_long,
     "at these lengths training short has its price"},
    {"C11", "ALiBi and RoPE train about as fast as sinusoidal positions", training_cost,
     "models are trained one after the other, and their speeds scatter with the load of the machine; "
     "tapeline bench step --encodings times them in turns"},
    {"C12", "learned, sinusoidal, RoPE and ALiBi have learnt something", learnt_something,
     "no effect of positions is to be expected of such models; train for longer"},
};

/// The texts each once, in their order, empty ones left out.
std::string joined_once(const std::vector<std::string>& texts) {
  std::vector<std::string> told;
  std::string text;
  for (const std::string& one : texts) {
    if (one.empty() || std::ranges::find(told, one) != told.end()) continue;
    told.push_back(one);
    text += text.empty() ? "" : "; ";
    text += one;
  }
  return text;
}

std::optional<Verdict> verdict_of(const std::vector<CriterionCondition>& conditions) {
  std::vector<Verdict> verdicts;
  for (const CriterionCondition& condition : conditions) {
    if (condition.verdict) verdicts.push_back(*condition.verdict);
  }
  const Verdict measured = joint_verdict(verdicts);
  // What is missing could not mend a failure, but anything else.
  if (verdicts.size() < conditions.size() && measured != Verdict::fails) return std::nullopt;
  return measured;
}

bool names(const std::vector<std::string>& ids, const Criterion& criterion) {
  return std::ranges::find(ids, criterion.id) != ids.end();
}

CriterionResult result_of(const Criterion& criterion, const Thresholds& set, const Evidence& evidence) {
  CriterionResult result;
  result.id = criterion.id;
  result.version = set.version;
  result.statement = criterion.statement;
  result.primary = names(evidence.comparison().config.compare.primary, criterion);
  Findings findings = criterion.look(evidence, set);
  if (findings.conditions.empty()) {
    result.reason = fmt::format("{} does not ask for it", set.version);
    return result;
  }
  std::vector<std::string> asked, found, reasons;
  for (const CriterionCondition& condition : findings.conditions) asked.push_back(condition.asked);
  if (findings.shown.empty()) {
    for (std::size_t i = 0; i < findings.conditions.size(); ++i) findings.shown.push_back(i);
  }
  for (const std::size_t place : findings.shown) found.push_back(findings.conditions[place].found);
  reasons.push_back(findings.not_judged);
  for (const CriterionCondition& condition : findings.conditions) reasons.push_back(condition.reason);
  result.threshold = joined_once(asked);
  result.figure = joined_once(found) + findings.remark;
  result.reason = joined_once(reasons);
  if (findings.not_judged.empty()) result.verdict = verdict_of(findings.conditions);
  if (result.verdict && *result.verdict != Verdict::holds) result.otherwise = criterion.otherwise;
  result.conditions = std::move(findings.conditions);
  return result;
}

}  // namespace

std::vector<CriterionResult> judge(const Comparison& comparison) {
  const CompareConfig& config = comparison.config.compare;
  const Thresholds& set = thresholds(config.thresholds);
  const Evidence evidence(comparison);
  std::vector<CriterionResult> results;
  for (const Criterion& criterion : all_criteria) {
    if (names(config.claims, criterion)) results.push_back(result_of(criterion, set, evidence));
  }
  return results;
}

}  // namespace tapeline

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/excerpt.h"
#include "train/config_derived.h"
#include "train/evaluate.h"

namespace tapeline {

Protocol parse_protocol(const std::string& name) {
  if (name == "nonoverlapping") return Protocol::nonoverlapping;
  if (name == "sliding") return Protocol::sliding;
  fail<ConfigError>("evaluate.protocols: \"{}\" is no protocol; they are \"nonoverlapping\" and \"sliding\"",
                    excerpt(name));
}

std::string EvaluationCell::protocol_name() const {
  if (protocol == Protocol::sliding) return "sliding";
  return subset ? "nonoverlapping_subset" : "nonoverlapping";
}

Index input_tokens(const EvaluationPlan& plan, const EvaluationCell& cell) {
  const Index targets = (cell.subset ? plan.subset : plan.scored).tokens();
  if (cell.protocol == Protocol::nonoverlapping) return targets;
  return targets * cell.length / std::max<Index>(1, cell.stride);
}

Index longest_sliding_length(const Config& config) {
  Index longest = 0;
  for (const Index length : evaluation_lengths(config)) {
    if (length <= sliding_limit(config)) longest = std::max(longest, length);
  }
  return longest;
}

EvaluationPlan evaluation_plan(const Config& config, ScoredSet scored, Index longest_sliding) {
  bool plain = false, sliding = false;
  for (const std::string& name : config.evaluate.protocols) {
    (parse_protocol(name) == Protocol::sliding ? sliding : plain) = true;
  }
  const Index trained = config.train.length, limit = sliding_limit(config), stride = sliding_stride(config);
  const std::vector<Index> lengths = evaluation_lengths(config);
  if (longest_sliding == 0) longest_sliding = std::max<Index>(1, longest_sliding_length(config));
  const Index longest = std::max(scored.longest, std::ranges::max(lengths));
  EvaluationPlan plan;
  plan.scored = std::move(scored);
  plan.probe_targets = single_targets(plan.scored, probe_target_count, longest_sliding);
  plan.attention = scored_subset(plan.scored, config.evaluate.sliding_tokens, longest);
  if (plain) {
    for (const Index length : lengths) {
      plan.cells.push_back({Protocol::nonoverlapping, length, length, false});
    }
  }
  if (!sliding) return plan;

  for (const Index length : lengths) {
    if (length > limit) continue;
    plan.cells.push_back({Protocol::sliding, length, std::min(stride, length), true});
    if (length == trained && stride > 1) plan.cells.push_back({Protocol::sliding, length, 1, true});
    if (plain) plan.cells.push_back({Protocol::nonoverlapping, length, length, true});
  }
  require<ConfigError>(
      !plan.cells.empty(),
      "evaluate: nothing to measure: sliding windows alone were asked for, and they go up to "
      "{} (evaluate.sliding_up_to), below the shortest length, {}; allow longer ones "
      "(evaluate --sliding-up-to {}), or give a shorter length",
      limit, std::ranges::min(lengths), std::ranges::min(lengths));
  plan.subset = scored_subset(plan.scored, config.evaluate.sliding_tokens, longest_sliding);
  return plan;
}

const EvaluationResult* whole_set_result(std::span<const EvaluationResult> results, Index length) {
  for (const EvaluationResult& result : results) {
    if (result.cell.on_whole_set() && result.cell.length == length) return &result;
  }
  return nullptr;
}

void finish_result(EvaluationResult& result, double total_nll) {
  require<DataError>(result.scored_tokens > 0, "evaluate: no token was scored at length {}",
                     result.cell.length);
  result.nll = total_nll / static_cast<double>(result.scored_tokens);
  result.bits_per_byte = total_nll / std::numbers::ln2 / static_cast<double>(result.scored_bytes);
  result.perplexity = std::exp(result.nll);  // infinite past a mean of 709 nats, and printed so
  if (!std::isfinite(result.nll)) {
    result.status = "diverged";
    result.reason = fmt::format("the loss at length {} is {}: a weight or an activation is not finite",
                                result.cell.length, result.nll);
  }
}

}  // namespace tapeline

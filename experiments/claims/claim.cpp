#include "experiments/claims/claim.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/excerpt.h"
#include "experiments/claims/subjects.h"
#include "layers/positional/kinds_of_build.h"
#include "train/nearest_name.h"

namespace tapeline {

std::string_view claim_verdict_text(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::is_true:
      return "true";
    case ClaimVerdict::is_false:
      return "false";
    case ClaimVerdict::on_average:
      return "true on average";
    case ClaimVerdict::not_at_this_scale:
      return "not at this scale";
    case ClaimVerdict::needs_comparison:
      return "needs a comparison";
    default:
      return "not in this build";
  }
}

std::span<const ClaimGroup> claim_groups() {
  static const std::vector<ClaimGroup> groups = {
      {"Sinusoids", sinusoid_claims()},
      {"Attention and order", attention_order_claims()},
      {"Rotation", rotation_claims()},
      {"Scalings of rotation", scaling_claims()},
      {"Biases", linear_bias_claims()},
      {"Biases by table and kernel", table_bias_claims()},
      {"Masks and score scales", score_claims()},
      {"Tables and windows", table_claims()},
      {"Trained: past the trained length", extrapolation_claims()},
      {"Trained: one encoding against another", rivalry_claims()},
      {"Trained: changed after training", after_training_claims()},
      {"Trained: what a loss shows", context_claims()},
  };
  return groups;
}

std::vector<std::string> claim_ids() {
  std::vector<std::string> ids;
  for (const ClaimGroup& group : claim_groups()) {
    for (const Claim& claim : group.claims) ids.emplace_back(claim.id);
  }
  return ids;
}

const Claim& find_claim(const std::string& id) {
  for (const ClaimGroup& group : claim_groups()) {
    const auto found = std::ranges::find(group.claims, id, &Claim::id);
    if (found != group.claims.end()) return *found;
  }
  const std::string nearest = did_you_mean(nearest_name(id, claim_ids()));
  fail<ConfigError>("claims: there is no \"{}\", neither a claim nor a folder{}", excerpt(id),
                    nearest.empty() ? std::string("; tapeline claims lists what there is") : nearest);
}

ClaimFinding test_claim(const Claim& claim, const Comparison* comparison) {
  const auto missing = std::ranges::find_if(claim.kinds, is_left_out);
  if (missing != claim.kinds.end()) {
    return {ClaimVerdict::not_in_build, fmt::format("built without {}", *missing)};
  }
  if (claim.compute != nullptr) return claim.compute();
  if (comparison == nullptr) return {ClaimVerdict::needs_comparison, std::string(no_models_given)};
  return claim.judge(*comparison);
}

}  // namespace tapeline

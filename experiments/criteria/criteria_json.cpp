#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/criteria/criterion.h"
#include "experiments/output.h"

namespace tapeline {
namespace {

using Json = nlohmann::ordered_json;

Json verdict_json(const std::optional<Verdict>& verdict) {
  return verdict ? Json(verdict_text(*verdict)) : Json(nullptr);
}

/// What there is no number for is null: nan and inf are no JSON.
Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json condition_json(const CriterionCondition& condition) {
  return {{"asked", condition.asked},
          {"found", condition.found},
          {"verdict", verdict_json(condition.verdict)},
          {"reason", condition.reason},
          {"seeds", condition.seeds},
          {"estimate", number_json(condition.estimate)},
          {"lower", number_json(condition.lower)},
          {"upper", number_json(condition.upper)},
          {"token_lower", number_json(condition.token_lower)},
          {"token_upper", number_json(condition.token_upper)},
          {"blocks", condition.blocks}};
}

}  // namespace

std::string criteria_json(const std::vector<CriterionResult>& results) {
  Json all = Json::array();
  for (const CriterionResult& result : results) {
    Json conditions = Json::array();
    for (const CriterionCondition& condition : result.conditions)
      conditions.push_back(condition_json(condition));
    all.push_back({{"id", result.id},
                   {"version", result.version},
                   {"statement", result.statement},
                   {"primary", result.primary},
                   {"verdict", verdict_json(result.verdict)},
                   {"figure", result.figure},
                   {"threshold", result.threshold},
                   {"reason", result.reason},
                   {"otherwise", result.otherwise},
                   {"conditions", std::move(conditions)}});
  }
  return printed_json(all);
}

}  // namespace tapeline

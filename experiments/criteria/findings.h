#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/criteria/criterion.h"
#include "experiments/criteria/evidence.h"
#include "experiments/criteria/thresholds.h"

namespace tapeline {

/// How a figure is told: a logarithm as the ratio that it is of, or nats a byte as they are.
enum class Shown { ratio, nats };

/// "R(8)"; `of`: what kind of ratio, "_tail", "_sliding", or whose, "_rope".
std::string ratio_name(double times, std::string_view of = {});

/// What a criterion asks and finds of one figure: the verdict of its interval over seeds. The demand is in
/// the terms in which the figure is shown. `asked`: said instead of name and demand.
CriterionCondition judged(const std::string& name, const Measured& measured, Shown shown,
                          const Demand& demand, const std::string& asked = {});

/// The figure alone: nothing is asked of it.
CriterionCondition told(const std::string& name, const Measured& measured, Shown shown);

/// A condition that cannot be looked at, and why.
CriterionCondition not_measured(const std::string& asked, const std::string& why);

/// The place of the condition with the largest, or smallest, estimate among those from `begin` on; one
/// without an estimate comes before any: it is what there is to say.
std::size_t extreme(const std::vector<CriterionCondition>& conditions, std::size_t begin, bool largest);

/// What one criterion found.
struct Findings {
  std::vector<CriterionCondition> conditions;
  std::vector<std::size_t> shown = {};  ///< those that stand in its figure; empty: all
  std::string not_judged = {};          ///< why it has no verdict whatever was found
  std::string remark = {};              ///< said behind the figure
};

/// The criteria, each on its own; what each says stands in criterion.cpp.
Findings alibi_improves(const Evidence& evidence, const Thresholds& asked);            // C1
Findings alibi_sliding_is_flat(const Evidence& evidence, const Thresholds& asked);     // C2
Findings curse_only_gain(const Evidence& evidence, const Thresholds& asked);           // C3
Findings sinusoidal_fails(const Evidence& evidence, const Thresholds& asked);          // C4
Findings rope_between(const Evidence& evidence, const Thresholds& asked);              // C5
Findings order_far_out(const Evidence& evidence, const Thresholds& asked);             // C6
Findings learned_refuses(const Evidence& evidence, const Thresholds& asked);           // C7
Findings parity_at_trained_length(const Evidence& evidence, const Thresholds& asked);  // C8
Findings early_token_gap(const Evidence& evidence, const Thresholds& asked);           // C9
Findings train_short_test_long(const Evidence& evidence, const Thresholds& asked);     // C10
Findings training_cost(const Evidence& evidence, const Thresholds& asked);             // C11
Findings learnt_something(const Evidence& evidence, const Thresholds& asked);          // C12

}  // namespace tapeline

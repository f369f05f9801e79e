#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/statistics/verdict.h"

namespace tapeline {

/// One number of a criterion and what is asked of it.
struct CriterionCondition {
  std::string asked;               ///< "R(8) < 1.00"
  std::string found;               ///< "R(8) = 0.981 (0.977 to 0.985; tokens 0.970 to 0.991)"
  std::optional<Verdict> verdict;  ///< nothing: not measured, or measured and not judged
  std::string reason;  ///< why not measured, why inconclusive, which seeds are left out; else empty
  Index seeds = 0;     ///< that the numbers are a mean over
  double estimate = std::numeric_limits<double>::quiet_NaN();
  /// The 95 % t-interval over seeds, paired; NaN under two seeds. The verdict is of this one.
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
  /// The 95 % interval of the block bootstrap over the scored text, of these models; NaN where there is none:
  /// of figures that are no losses, and of fewer blocks than fewest_bootstrap_blocks.
  double token_lower = std::numeric_limits<double>::quiet_NaN();
  double token_upper = std::numeric_limits<double>::quiet_NaN();
  Index blocks = 0;  ///< of text that it draws from
};

/// What became of one named criterion (C1 ... C12) in a comparison.
struct CriterionResult {
  std::string id;                  ///< "C1"
  std::string version;             ///< of its threshold: the name of the frozen set, "toy-1"
  std::string statement;           ///< "ALiBi's loss in non-overlapping windows falls with length"
  bool primary = false;            ///< named by compare.primary; --check looks at these
  std::optional<Verdict> verdict;  ///< nothing: not measured here, reason says why
  std::string figure;              ///< what was found, with its interval: "R(8) = 0.981 (0.977 to 0.985)"
  std::string threshold;           ///< what was asked: "R(8) < 1.00"
  std::string reason;              ///< why not measured, why inconclusive, which seeds diverged; else empty
  std::vector<CriterionCondition> conditions = {};  ///< the numbers behind it, each with its own verdict
  std::string otherwise = {};  ///< what it means if it does not hold; empty where it holds or is not judged
};

/// The criteria that the configuration names (compare.claims; by default all), in the order C1 ... C12,
/// judged by its set of thresholds (compare.thresholds) on what was measured.
///
/// Losses are compared as logarithms, in nats a byte: R(k) = exp(NLL at kL - NLL at L) is the ratio of
/// perplexities a byte of one model on the same targets. A verdict is that of the 95 % t-interval over seeds,
/// paired; a criterion of several conditions holds when all hold and fails when one fails. One seed has no
/// interval and decides nothing but what is no matter of chance (a refusal). Models are found by their kind
/// of encoding, with nothing else set (is_plain()): the variant that bears its name, else the first. Primary
/// are those that compare.primary names.
///
/// C2 compares losses with full history: of sliding windows at kL, whose targets see more than kL - S tokens,
/// with those of stride 1 at L, whose targets see L. C3 and C9 take the same loss at L.
std::vector<CriterionResult> judge(const Comparison& comparison);

/// The whole of claims.json: one object a criterion.
std::string criteria_json(const std::vector<CriterionResult>& results);

/// What the letters and brackets of figures stand for.
extern const char* const criteria_letters;

/// Which criteria have no interval over the text as too little of it was scored, and what to do; empty: none.
std::string few_blocks_text(const std::vector<CriterionResult>& results);

/// "holds", "fails", "inconclusive", "not measured".
std::string verdict_text(const std::optional<Verdict>& verdict);

/// The criteria as a table for a terminal of `width` columns (0: no limit), what could not be judged and why
/// below it. Empty when none was asked for.
std::string criteria_text(const std::vector<CriterionResult>& results, std::size_t width);

}  // namespace tapeline

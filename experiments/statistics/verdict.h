#pragma once

#include <limits>
#include <string>
#include <vector>

namespace tapeline {

/// What an interval says of a claim: all of it on the right side, all of it on the wrong one, or neither.
enum class Verdict { holds, fails, inconclusive };

/// "holds", "fails", "inconclusive".
std::string verdict_text(Verdict verdict);

/// What a claim asks of a number: that it lies from `low` to `high`.
struct Demand {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open = false;  ///< the bounds themselves do not meet it

  static Demand at_most(double bound);
  static Demand below(double bound);
  static Demand at_least(double bound);
  static Demand above(double bound);
  static Demand within(double low, double high);

  bool met_by(double value) const;
  /// "≤ 1.02", "< 1.00", "in 0.03 to 0.15".
  std::string text(int digits) const;
};

/// The verdict of an interval: holds when both its limits meet the demand, fails when no number in it does,
/// else inconclusive; so is what has no interval (a limit is NaN).
Verdict judge_interval(double lower, double upper, const Demand& demand);

/// The verdict of a claim that asks for all of these: fails when one fails, holds when all hold. Asking for
/// every one at its own level keeps the level of the whole: "holds" needs no correction for their number
/// (an intersection-union test, Berger 1982).
Verdict joint_verdict(const std::vector<Verdict>& verdicts);

}  // namespace tapeline

#pragma once

#include <string>
#include <vector>

#include "tests/conformance/work.h"

namespace tapeline::conformance {

/// The largest difference from an expected array, |found - expected| / max(1, |expected|), by precision.
struct Difference {
  std::string array;
  double in_double = 0, in_single = 0;
  bool double_holds = true, single_holds = true;
};

/// What came of a case.
struct Outcome {
  std::string name, family;
  std::vector<Difference> differences;
  std::string reason;  ///< why it could not be run; empty: it was

  bool holds() const;
};

/// Computes a case in both precisions and compares. Throws nothing that the case is to blame for.
Outcome outcome_of(const GoldenCase& of, const GoldenFile& file);

/// A line a case, aligned over the file; `failures_only` leaves out those that hold.
std::string case_lines(const std::vector<Outcome>& outcomes, bool failures_only);
/// A line a family: cases, how many hold, largest differences.
std::string summary_table(const std::vector<Outcome>& outcomes);

}  // namespace tapeline::conformance

#pragma once

#include <doctest/doctest.h>

#include <string>

#include "experiments/claims/claim.h"
#include "tests/support/text.h"

namespace tapeline::test {

/// A finding has this verdict, and a figure that holds the part.
inline void check_finding(const ClaimFinding& finding, ClaimVerdict verdict, const std::string& part = "") {
  const std::string found(claim_verdict_text(finding.verdict)), wanted(claim_verdict_text(verdict));
  CAPTURE(finding.figure);
  CHECK(found == wanted);
  CHECK_FALSE(finding.figure.empty());
  CHECK(contains(finding.figure, part));
}

/// What a claim that needs no trained models comes to.
inline void check_claim(const std::string& id, ClaimVerdict verdict, const std::string& part = "") {
  CAPTURE(id);
  check_finding(test_claim(find_claim(id), nullptr), verdict, part);
}

}  // namespace tapeline::test

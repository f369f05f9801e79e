#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiments/claims/claim.h"

namespace tapeline {

/// A claim that has been tested.
struct TestedClaim {
  std::string_view subject;  ///< of its group
  const Claim* claim = nullptr;
  ClaimFinding finding;
};

/// All of them by subject: verdict, statement, figure, id and source; how many are what in the last line.
/// `width` 0: no limit.
std::string claims_text(const std::vector<TestedClaim>& tested, std::size_t width);
/// One in full, with what is computed.
std::string claim_text(const TestedClaim& tested, std::size_t width);
/// "49 statements: 20 true, 3 true on average, 12 false, 14 need a comparison"
std::string claim_counts_text(const std::vector<TestedClaim>& tested);

/// id, subject, statement, source, verdict, figure, computed, and of those on trained models the command that
/// trains them.
nlohmann::ordered_json claim_json(const TestedClaim& tested);
/// An array of them.
nlohmann::ordered_json claims_json(const std::vector<TestedClaim>& tested);

}  // namespace tapeline

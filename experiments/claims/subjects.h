#pragma once

#include <vector>

#include "experiments/claims/claim.h"

/// The claims, by the file that they stand in.
namespace tapeline {

std::vector<Claim> sinusoid_claims();
std::vector<Claim> attention_order_claims();
std::vector<Claim> rotation_claims();
std::vector<Claim> scaling_claims();
std::vector<Claim> linear_bias_claims();
std::vector<Claim> table_bias_claims();
std::vector<Claim> score_claims();
std::vector<Claim> table_claims();

std::vector<Claim> extrapolation_claims();
std::vector<Claim> rivalry_claims();
std::vector<Claim> after_training_claims();
std::vector<Claim> context_claims();

}  // namespace tapeline

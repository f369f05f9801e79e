#include <doctest/doctest.h>

#include <cmath>

#include "experiments/claims/linear_bias.h"
#include "experiments/claims/made_up.h"
#include "experiments/claims/table_bias.h"
#include "tests/experiments/claim_checks.h"
#include "tests/support/kinds.h"

namespace tapeline::test {
namespace {

using enum ClaimVerdict;

TEST_CASE("claims: linear biases that need no encoding of the build") {
  check_claim("alibi-future", is_true, "row 16 gives ");
  check_claim("alibi-key-index", is_false, "at 8192 keys");
  check_claim("row-constant", is_true, "outputs of 64 rows");
}

TEST_CASE("claims: ALiBi" * needs({"alibi"})) {
  check_claim("alibi-slopes", is_false,
              "only for n = 1, 2, 4, 8, 16, 32, 64, 128; 12 heads end in 0.7071, 0.3536, 0.1768, 0.0884");
  check_claim("alibi-local", is_true, "99 % of the weight stands on 10 keys at length 512 and 10 at 4096");
}

TEST_CASE("claims: slopes by the formula, a symmetric bias and a short row get the other verdicts") {
  check_finding(
      slopes_are_geometric([](Index heads) {
        std::vector<double> slopes;
        for (Index head = 1; head <= heads; ++head) {
          slopes.push_back(std::exp2(-8.0 * static_cast<double>(head) / static_cast<double>(heads)));
        }
        return slopes;
      }),
      is_true);
  check_finding(
      bias_rewards_the_future([](Index distance) { return -0.5 * std::abs(static_cast<double>(distance)); }),
      is_false);
  check_finding(key_index_is_as_good(64, bias_errors(64)), is_true);
  check_finding(addition_changes_nothing(
                    {.by_row = {}, .by_key = [](Index key) { return static_cast<double>(key) / 8; }}),
                is_false);
}

TEST_CASE("claims: a symmetric bias is not local where it is flat" * needs({"kerple_log"})) {
  check_finding(steepest_head_is_local(EncodingView(claim_plan("kerple_log", 64, 8))), is_false);
}

TEST_CASE("claims: T5's buckets" * needs({"t5"})) {
  check_claim("t5-exact-half", is_true,
              "of 32 buckets the first 16 hold one distance each, bucket 16 holds 16 to 18");
  check_claim("t5-far", is_true, "the last bucket begins at 113");
  const ModelPlan plan = with_kind_option(claim_plan("t5", 128, 2, 512), "max_distance", std::string("400"));
  const EncodingView far(plan);
  check_finding(far_distances_share_a_bucket(far, 128), is_false);
  check_finding(half_of_buckets_are_exact(far, 20), is_false, "the first 16 hold");
}

TEST_CASE("claims: ALiBi as KERPLE's power kernel" * needs({"alibi", "kerple_power"})) {
  check_claim("kerple-alibi", is_true, "biases of 8 heads");
  check_finding(biases_agree(EncodingView(claim_plan("kerple_power", 64, 8)),
                             EncodingView(claim_plan("alibi", 64, 8)), 512),
                is_false);
}

TEST_CASE("claims: Sandwich as sinusoids" * needs({"sandwich", "sinusoidal", "alibi"})) {
  check_claim("sandwich-sinusoids", is_true);
  const EncodingView sinusoids(with_kind_option(claim_plan("sinusoidal", 128), "scale", std::string("1")));
  check_finding(
      bias_is_product_of_rows(EncodingView(claim_plan("alibi", 64, 8)), *view_input(sinusoids, 0, 512)),
      is_false);
}

TEST_CASE("claims: FIRE looks at the row, ALiBi does not" * needs({"fire", "alibi"})) {
  check_claim("fire-distance", is_false, "at the same distance");
  check_finding(bias_knows_distance_alone(EncodingView(claim_plan("alibi", 64, 8))), is_true);
}

}  // namespace
}  // namespace tapeline::test

#include <doctest/doctest.h>

#include "experiments/claims/made_up.h"
#include "experiments/claims/rotation.h"
#include "experiments/claims/scaling.h"
#include "tests/experiments/claim_checks.h"
#include "tests/support/kinds.h"

namespace tapeline::test {
namespace {

using enum ClaimVerdict;

ModelPlan scaled(const std::string& scaling) {
  const ModelPlan plan = with_kind_option(claim_plan("rope", 128, 2, 4096), "scaling", scaling);
  return scaling == "none" ? plan : with_kind_option(plan, "factor", std::string("4"));
}

TEST_CASE("claims: rotation" * needs({"rope"})) {
  check_claim("rope-norm", is_true);
  check_claim("rope-offset", is_true);
  check_claim("rope-decay", on_average);
  check_claim("rope-decay-any", is_false);
  check_claim("rope-slow-pairs", is_true, "18 of 64 pairs at length 4096");
  check_claim("rope-pairings", is_true);
  check_claim("rope-first-layer", is_false, "in 6 of 6 layers");
  check_claim("rope-float-angles", is_false, "before 131071");
}

TEST_CASE("claims: the errors of angles in float32 are as large as is said of them") {
  CHECK(float_angle_error(131071) > 1e-3);
  CHECK(float_angle_error(131071) < 1e-2);
  CHECK(float_angle_error(4095) > 1e-4);
  CHECK(float_angle_error(4095) < 3e-4);
  check_finding(float_angles_are_enough(float_angle_error(60), float_angle_error(60), 0), is_true);
}

TEST_CASE("claims: xPos is a rotation that does not keep norms, and falls for any vectors" *
          needs({"xpos", "rope"})) {
  const ModelPlan plan = claim_plan("xpos", 128, 2, 1024);
  const EncodingView xpos(plan), rope(claim_plan("rope", 128));
  CHECK(largest_norm_change(xpos, 64) > 1e-2);
  check_finding(rotation_keeps_norms(rope, EncodingView(claim_plan("xpos", 128, 2, 4096))), is_false);
  check_finding(rotation_falls_for_any(xpos), is_true);
}

TEST_CASE("claims: other settings of rotation get the other verdicts" * needs({"rope"})) {
  const ModelPlan plan = claim_plan("rope", 128);
  const EncodingView rope(plan);
  // The first 8 positions turn otherwise: products there do not depend on the offset alone.
  ModelPlan uneven = with_kind_option(plan, "scaling", std::string("longrope"));
  uneven = with_kind_option(uneven, "long_factors", std::vector<double>(32, 4.0));
  check_finding(rotation_knows_the_offset(EncodingView(with_kind_option(uneven, "keep_first", Index{8}))),
                is_false);
  // Slow enough to fall all the way, and so fast that it comes back.
  const EncodingView slow(with_kind_option(with_kind_option(plan, "scaling", std::string("linear")), "factor",
                                           std::string("1000")));
  check_finding(rotation_falls(slow), is_true);
  check_finding(rotation_falls(EncodingView(with_kind_option(plan, "base", 1.0001))), is_false);
  const EncodingView fast(with_kind_option(plan, "base", 2.0));
  check_finding(rotation_has_slow_pairs(fast, fast), is_false, "0 of 32 pairs");
  check_finding(rotation_pairings_agree(rope, rope), is_false);
}

TEST_CASE("claims: rotation in the first layer only, by a pattern" * needs({"rope", "none"})) {
  ModelPlan plan = claim_plan("rope", 128);
  plan.positional.pattern = {"rope", "none"};
  check_finding(rotation_in_first_layer(EncodingView(plan)), is_true, "in 1 of 2 layers");
}

TEST_CASE("claims: scalings of rotation" * needs({"rope"})) {
  check_claim("ntk-ends", is_true, "fastest pair × 1.0000, of the slowest × 4.0000 (64 pairs)");
  check_claim("interpolation-all-pairs", is_true, "× 4.0000 to × 4.0000");
  check_claim("yarn-parts", is_true,
              "trained at 4096: kept 21, slowed in part 25, by the whole factor 18 of 64 pairs");
  check_claim("yarn-temperature", is_true, "= 1.2965");
  check_claim("dynamic-ntk-short", is_true, "difference from plain tables 0 in a context of 64");
  check_claim("dynamic-ntk-prefix", is_false, "in a window of 256");
}

TEST_CASE("claims: one scaling in the place of another gets the other verdict" * needs({"rope"})) {
  const EncodingView plain(scaled("none")), linear(scaled("linear")), ntk(scaled("ntk"));
  check_finding(scaling_keeps_the_fastest(linear, plain, 4), is_false);
  check_finding(scaling_slows_all(ntk, plain, 4), is_false);
  check_finding(scaling_goes_by_parts(linear, plain, 4, linear, plain), is_false, "kept 0, ");
  check_finding(scaling_holds_temperature(ntk, 4), is_false);
  const ModelPlan small = claim_plan("rope", 64, 2, 64);
  const ModelPlan fixed =
      with_kind_option(with_kind_option(small, "scaling", std::string("ntk")), "factor", std::string("4"));
  check_finding(scaling_spares_short_contexts(EncodingView(fixed), EncodingView(small)), is_false);
  check_finding(prefix_is_kept(fixed, small), is_true);
}

}  // namespace
}  // namespace tapeline::test

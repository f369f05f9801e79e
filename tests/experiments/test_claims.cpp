#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "core/error.h"
#include "experiments/claims/attention_order.h"
#include "experiments/claims/made_up.h"
#include "experiments/claims/score.h"
#include "experiments/claims/sinusoid.h"
#include "experiments/claims/table.h"
#include "tests/experiments/claim_checks.h"
#include "tests/support/kinds.h"

namespace tapeline::test {
namespace {

using enum ClaimVerdict;

/// Rows of sines and cosines in turn with these frequencies.
VectorTable rows_of(const std::vector<double>& frequencies, Index count) {
  VectorTable rows{.name = {},
                   .of = {},
                   .first = 0,
                   .heads = 1,
                   .count = count,
                   .width = 2 * static_cast<Index>(frequencies.size()),
                   .numbers = {}};
  for (Index row = 0; row < count; ++row) {
    for (const double frequency : frequencies) {
      rows.numbers.push_back(std::sin(static_cast<double>(row) * frequency));
      rows.numbers.push_back(std::cos(static_cast<double>(row) * frequency));
    }
  }
  return rows;
}

/// Rows that no formula makes.
VectorTable random_rows(Index count, Index width) {
  VectorTable rows = rows_of({}, 0);
  rows.count = count;
  rows.width = width;
  rows.numbers = normal_numbers(count * width, "rows");
  return rows;
}

TEST_CASE("claims: every one has an id, a source and one way to be tested") {
  std::set<std::string_view> ids;
  std::size_t computed = 0, trained = 0;
  for (const ClaimGroup& group : claim_groups()) {
    CHECK_FALSE(group.claims.empty());
    for (const Claim& claim : group.claims) {
      CAPTURE(std::string(claim.id));
      CHECK(ids.insert(claim.id).second);
      CHECK(claim.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == claim.id.npos);
      CHECK_FALSE(claim.statement.ends_with('.'));
      CHECK(claim.source.size() > 10);
      CHECK(claim.computed.size() > 20);
      CHECK((claim.compute != nullptr) != (claim.judge != nullptr));
      CHECK((claim.judge != nullptr) == claim.command.starts_with("tapeline compare --preset "));
      ++(claim.compute != nullptr ? computed : trained);
    }
  }
  CHECK(computed >= 20);
  CHECK(trained >= 15);
}

TEST_CASE("claims: an id that none has is told the nearest") {
  CHECK(find_claim("rope-decay").id == "rope-decay");
  CHECK_THROWS_WITH_AS(find_claim("rope-deacy"),
                       "claims: there is no \"rope-deacy\", neither a claim nor a folder; did you mean "
                       "\"rope-decay\"?",
                       ConfigError);
  CHECK_THROWS_WITH_AS(
      find_claim("xyzzyxyzzy"),
      "claims: there is no \"xyzzyxyzzy\", neither a claim nor a folder; tapeline claims lists what there is",
      ConfigError);
}

TEST_CASE("claims: a computed figure is the same every time") {
  for (const ClaimGroup& group : claim_groups()) {
    for (const Claim& claim : group.claims) {
      if (claim.compute == nullptr) continue;
      CAPTURE(std::string(claim.id));
      CHECK(test_claim(claim, nullptr).figure == test_claim(claim, nullptr).figure);
    }
  }
}

TEST_CASE("claims: what is said of kinds that the build left out" * needs_fixed_build()) {
  std::size_t missing = 0;
  for (const ClaimGroup& group : claim_groups()) {
    for (const Claim& claim : group.claims) {
      const auto left_out = std::ranges::find_if(claim.kinds, is_left_out);
      if (left_out == claim.kinds.end()) continue;
      CAPTURE(std::string(claim.id));
      check_finding(test_claim(claim, nullptr), not_in_build, "built without " + std::string(*left_out));
      ++missing;
    }
  }
  CHECK(missing > 0);
}

TEST_CASE("claims: sinusoids" * needs({"sinusoidal"})) {
  check_claim("sinusoid-zero", is_false, "row 0 is 0, 1, 0, 1, 0, 1, ...; its norm at width 128 is 8");
  check_claim("sinusoid-monotone", on_average, "first from distance 11 to 12 (width 128)");
  check_claim("sinusoid-wavelengths", is_false, "the longest of width 512 is 60611;");
  check_claim("sinusoid-index", is_false, "with i the pair");
  check_claim("sinusoid-shift", is_true, "largest residual");
  check_claim("sinusoid-direction", is_true, "d up to 511");
}

TEST_CASE("claims: other rows than sinusoids get the other verdicts") {
  VectorTable zeros = rows_of({1, 0.1}, 4);
  zeros.numbers.assign(zeros.numbers.size(), 0);
  check_finding(sinusoid_begins_at_zero(zeros), is_true);
  check_finding(sinusoid_product_falls(rows_of({0.001}, 512)), is_true, "no rise");
  check_finding(sinusoid_product_falls(rows_of({1}, 512)), is_false, "do not all fall");
  // The frequency that the statement would have, and those that it would have with i the feature.
  check_finding(sinusoid_reaches_base(rows_of({1, 1e-4}, 4097)), is_true);
  check_finding(sinusoid_counts_features(rows_of({1, 1e-4}, 4097)), is_true);
  check_finding(sinusoid_shift_is_linear(random_rows(100, 8)), is_false);
  check_finding(sinusoid_is_symmetric(random_rows(100, 8)), is_false);
}

TEST_CASE("claims: attention and order") {
  check_claim("order-blind", is_true);
  check_claim("order-blind-causal", is_false);
  check_claim("order-invariant", is_false, "equivariant");
  check_claim("order-one-layer", is_false, "after one layer");
}

TEST_CASE("claims: with positions a model without a mask tells the order" * needs({"rope"})) {
  ModelPlan plan = claim_plan("rope", 32);
  plan.positional.keys.causal = false;
  const OrderDifference difference = order_difference(stirred_model(plan));
  check_finding(order_cannot_be_told(difference), is_false);
  check_finding(order_known_to_one_layer(difference, difference), is_true);
  check_finding(order_changes_nothing({.moved = 1, .stayed = 0, .last = 0}), is_true);
}

TEST_CASE("claims: masks and score scales") {
  check_claim("window-keys", is_true, "window 8: rows 7 to 31 see 8 keys");
  check_claim("window-reach", is_false, "a token 21 rows back still changes the last row");
  check_claim("logn-adds", is_false, "1.000 at n = 64 and 1.333 at 256");
  check_claim("logn-entropy", is_false, "4096 keys");
}

TEST_CASE("claims: other masks and scales get the other verdicts") {
  check_finding(window_counts_itself({.window = 9}, 8), is_false, "see 8 to 9 keys");
  check_finding(window_bounds_the_model(1, 8), is_true, "a token 7 rows back");
  check_finding(logn_is_added({.plain = 0, .added = 0, .multiplied = 1, .at_base = 1, .at_end = 1}), is_true);
  check_finding(logn_keeps_entropy({3.9, 4.0, 3.8, 3.9}, {3.9, 5, 6, 7}), is_true);
  // Equal weights have an entropy of ln n, whatever they are multiplied by; random scores a lower one.
  CHECK(entropy_of_rows(64, false) < std::log(64.0));
  CHECK(entropy_of_rows(64, false) > std::log(64.0) - 1);
  CHECK(entropy_of_rows(1024, true) < entropy_of_rows(1024, false));
}

TEST_CASE("claims: tables of positions" * needs({"learned"})) {
  check_claim("learned-limit", is_true, "clamp, wrap, interpolate let it run");
  check_claim("learned-spare-rows", is_true, "and 0 in the rest");
  const ModelPlan plan = claim_plan("learned", 32, 2, 16);
  check_finding(longer_window_is_refused(with_kind_option(plan, "beyond", std::string("clamp")), {}),
                is_false, "they run");
  check_finding(far_rows_stay_untrained(plan), is_true, "a table of 16 rows");
}

TEST_CASE("claims: a window that begins elsewhere" * needs({"rope", "alibi", "t5", "sinusoidal"})) {
  check_claim("shift-identity", is_true, "rope ");
  check_finding(only_absolute_positions_shift({claim_plan("sinusoidal", 32)}, {}), is_false);
  check_finding(only_absolute_positions_shift({}, {claim_plan("alibi", 32)}), is_false);
}

}  // namespace
}  // namespace tapeline::test

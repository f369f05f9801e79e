#include "experiments/claims/table_bias.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/claims/made_up.h"
#include "experiments/claims/subjects.h"

namespace tapeline {
namespace {

/// b_h(d) at distances 0 .. length-1 of the last row.
std::vector<double> bias_by_distance(const EncodingView& view, std::size_t head, Index length) {
  return view_bias(view, 0, length).value().bias[head].back();
}

double largest_size(const std::vector<double>& numbers) {
  double largest = 0;
  for (const double number : numbers) largest = std::max(largest, std::abs(number));
  return largest;
}

/// Its fresh table holds random numbers, no two the same.
EncodingView t5_view() {
  const ModelPlan plan = with_kind_option(claim_plan("t5", 128, 2, 512), "buckets", Index{32});
  return EncodingView(with_kind_option(plan, "max_distance", std::string("128")));
}

/// KERPLE's power kernel with ALiBi's slopes as r1 and 1 as r2.
ClaimFinding kerple_as_alibi() {
  const EncodingView alibi(claim_plan("alibi", 64, 8));
  const ModelPlan plan = claim_plan("kerple_power", 64, 8);
  ParameterStore store;
  const ModelPositions positions(plan, store.root(), ModelPositions::registered(plan.positional));
  store.allocate(plan.seed);
  const Tensor outer = store.find("positional/kerple_power/r1")->mutable_value();
  const Tensor inner = store.find("positional/kerple_power/r2")->mutable_value();
  for (Index head = 0; head < plan.model.heads; ++head) {
    outer.data[head] = static_cast<Real>(-bias_by_distance(alibi, static_cast<std::size_t>(head), 2)[1]);
    inner.data[head] = 1;
  }
  return biases_agree(EncodingView(plan, store), alibi, 512);
}

ClaimFinding sandwich_as_sinusoids() {
  const EncodingView sinusoids(with_kind_option(claim_plan("sinusoidal", 128), "scale", std::string("1")));
  return bias_is_product_of_rows(EncodingView(claim_plan("sandwich", 64, 8)), *view_input(sinusoids, 0, 512));
}

}  // namespace

std::vector<Index> bucket_begins_seen(const EncodingView& view, Index length) {
  const std::vector<double> bias = bias_by_distance(view, 0, length);
  std::vector<Index> begins = {0};
  for (std::size_t distance = 1; distance < bias.size(); ++distance) {
    if (bias[distance] != bias[distance - 1]) begins.push_back(static_cast<Index>(distance));
  }
  return begins;
}

ClaimFinding half_of_buckets_are_exact(const EncodingView& view, Index buckets) {
  const std::vector<Index> begins = bucket_begins_seen(view, 512);
  std::size_t exact = 0;  // buckets of one distance, from the first on
  while (exact + 1 < begins.size() && begins[exact + 1] == begins[exact] + 1) ++exact;
  const std::string shared = exact + 1 < begins.size() ? fmt::format("bucket {} holds {} to {}", exact,
                                                                     begins[exact], begins[exact + 1] - 1)
                                                       : std::string("no bucket is shared");
  return {static_cast<Index>(exact) == buckets / 2 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("of {} buckets the first {} hold one distance each, {}", buckets, exact, shared)};
}

ClaimFinding far_distances_share_a_bucket(const EncodingView& view, Index max_distance) {
  const std::vector<Index> begins = bucket_begins_seen(view, 4 * max_distance);
  return {
      begins.back() <= max_distance ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("with max_distance {} the last bucket begins at {} and holds all up to {}, as far as was "
                  "looked",
                  max_distance, begins.back(), 4 * max_distance - 1)};
}

ClaimFinding biases_agree(const EncodingView& one, const EncodingView& other, Index length) {
  double largest = 0, size = 0;
  const auto heads = static_cast<std::size_t>(one.plan().model.heads);
  for (std::size_t head = 0; head < heads; ++head) {
    const std::vector<double> of_other = bias_by_distance(other, head, length);
    largest = std::max(largest, largest_difference(bias_by_distance(one, head, length), of_other));
    size = std::max(size, largest_size(of_other));
  }
  return {
      largest <= 1e-5 * size ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("biases of {} heads at distances up to {} differ by at most {:.2g}; the largest is {:.0f}",
                  heads, length - 1, largest, size)};
}

ClaimFinding bias_is_product_of_rows(const EncodingView& bias, const VectorTable& rows) {
  const std::vector<double> of_head = bias_by_distance(bias, 0, rows.count);
  std::vector<double> lost;
  const double square = rows.norm(0, 0) * rows.norm(0, 0);
  for (Index distance = 0; distance < rows.count; ++distance) {
    const double product = rows.similarity(0, 0, distance) * rows.norm(0, 0) * rows.norm(0, distance);
    lost.push_back(static_cast<double>(bias.plan().model.heads) / 8 * (product - square));
  }
  const double largest = largest_difference(of_head, lost);
  return {largest <= 1e-5 * largest_size(lost) ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format(
              "bias and product differ by at most {:.2g} at distances up to {}; the largest bias is {:.1f}",
              largest, rows.count - 1, largest_size(of_head))};
}

ClaimFinding bias_knows_distance_alone(const EncodingView& view) {
  const BiasView seen = view_bias(view, 0, 4 * view.plan().train_length).value();
  const std::vector<double>& early = seen.bias[0].front();
  std::vector<double> late = seen.bias[0].back();
  late.resize(early.size());
  // A number added to a whole row changes nothing: what counts are differences within it.
  double largest = 0, size = 0;
  for (std::size_t distance = 0; distance < early.size(); ++distance) {
    largest = std::max(largest, std::abs((early[distance] - early[0]) - (late[distance] - late[0])));
    size = std::max(size, std::abs(early[distance] - early[0]));
  }
  return {largest <= 1e-5 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("rows {} and {} differ by up to {:.2g} at the same distance (biases up to {:.2g})",
                      seen.rows.front(), seen.rows.back(), largest, size)};
}

std::vector<Claim> table_bias_claims() {
  return {
      {.id = "t5-exact-half",
       .statement = "T5's buckets are exact up to half of them, then several distances share one",
       .source = "Raffel et al. 2020 (T5), arXiv:1910.10683, section 2.1, and its code",
       .computed =
           "Where the bias changes from one distance to the next: 32 buckets, max_distance 128, causal, a "
           "table of random numbers. True if the first 16 buckets hold one distance each and the next more.",
       .kinds = {"t5"},
       .compute = [] { return half_of_buckets_are_exact(t5_view(), 32); }},
      {.id = "t5-far",
       .statement = "T5's bias cannot tell distances from 128 on apart",
       .source = "Raffel et al. 2020 (T5), arXiv:1910.10683, section 2.1",
       .computed = "Where the bias changes at distances up to 511: 32 buckets, max_distance 128, causal, a "
                   "table of random numbers. True if all from 128 on have one bias.",
       .kinds = {"t5"},
       .compute = [] { return far_distances_share_a_bucket(t5_view(), 128); }},
      {.id = "kerple-alibi",
       .statement = "ALiBi is KERPLE's power kernel with the power 1",
       .source = "Chi et al. 2022 (KERPLE), arXiv:2205.09921",
       .computed =
           "Biases of 8 heads at distances up to 511, r1 being ALiBi's slopes and r2 = 1. True if they are "
           "equal within 1e-5 of the largest.",
       .kinds = {"alibi", "kerple_power"},
       .compute = kerple_as_alibi},
      {.id = "sandwich-sinusoids",
       .statement = "Sandwich is the inner product of sinusoidal rows, used as a bias",
       .source = "Chi et al. 2023 (Sandwich), arXiv:2212.10356",
       .computed =
           "The bias of the first of 8 heads at distances up to 511 against PE(0)·PE(d) - PE(0)·PE(0) of "
           "width 128. True if they are equal within 1e-5 of the largest.",
       .kinds = {"sandwich", "sinusoidal"},
       .compute = sandwich_as_sinusoids},
      {.id = "fire-distance",
       .statement = "FIRE's bias is a function of the distance alone, like that of T5",
       .source = "circulating: tables that list FIRE among biases b(i - j); see Li et al. 2023, "
                 "arXiv:2310.04418",
       .computed =
           "Biases of a fresh FIRE trained at 64 in an early row and in row 255, each against that of its "
           "own distance 0. True if they agree within 1e-5.",
       .kinds = {"fire"},
       .compute = [] { return bias_knows_distance_alone(EncodingView(claim_plan("fire"))); }},
  };
}

}  // namespace tapeline

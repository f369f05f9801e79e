#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/claims/made_up.h"
#include "experiments/claims/rotation.h"
#include "experiments/claims/subjects.h"
#include "experiments/encodings/probe.h"
#include "layers/positional/frequencies.h"

namespace tapeline {
namespace {

/// Head width 128 / 2 = 64.
ModelPlan rope_plan() { return claim_plan("rope", 128); }
ModelPlan neighbours_plan() { return with_kind_option(rope_plan(), "pairing", std::string("interleaved")); }

/// Largest error of the cosines in the encoding's own table at the 512 positions up to `position`.
double table_angle_error(const EncodingView& view, Index position) {
  constexpr Index count = 512;
  Probe probe(position + 1);
  PassPositions all;
  all.query = all.key = view.encoding(0).positions(probe.pass, position - count + 1, count);
  const Rotation rotation = view.encoding(0).rotation(probe.pass, Role::query, all.query, all, 0);
  const Index pairs = rotation.width / 2;
  const std::vector<double> frequencies = geometric_frequencies(pairs, 10000, static_cast<double>(pairs));
  double largest = 0;
  for (Index row = 0; row < count; ++row) {
    for (Index pair = 0; pair < pairs; ++pair) {
      const double angle =
          static_cast<double>(all.query.at(row)) * frequencies[static_cast<std::size_t>(pair)];
      largest = std::max(largest, std::abs(number_at(rotation.cosine, row * pairs + pair) - std::cos(angle)));
    }
  }
  return largest;
}

}  // namespace

ClaimFinding float_angles_are_enough(double at_4095, double at_131071, double table_error) {
  return {std::max(at_4095, at_131071) < 1e-4 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("cosines are wrong by up to {:.2g} shortly before position 4095 and {:.2g} before "
                      "131071; with angles in double, as here, by {:.2g}",
                      at_4095, at_131071, table_error)};
}

std::vector<Claim> rotation_claims() {
  return {
      {.id = "rope-norm",
       .statement = "RoPE keeps the norms of queries and keys",
       .source = "Su et al. 2021 (RoFormer), arXiv:2104.09864, section 3",
       .computed =
           "A random vector of width 64 turned at positions 0 … 4095 under both pairings. True if its norm "
           "changes by less than 1e-5 of itself.",
       .kinds = {"rope"},
       .compute =
           [] { return rotation_keeps_norms(EncodingView(rope_plan()), EncodingView(neighbours_plan())); }},
      {.id = "rope-offset",
       .statement = "Under RoPE q·k depends on the offset of the two positions only",
       .source = "Su et al. 2021 (RoFormer), arXiv:2104.09864, section 3.2",
       .computed = "One random query and key of width 64, turned at positions 0 … 4095; at each of five "
                   "offsets the products of all positions. True if they are equal within 1e-5 |q||k|.",
       .kinds = {"rope"},
       .compute = [] { return rotation_knows_the_offset(EncodingView(rope_plan())); }},
      {.id = "rope-decay",
       .statement = "RoPE makes q·k fall with distance",
       .source = "Su et al. 2021 (RoFormer), arXiv:2104.09864, section 3.4.3: an upper bound of it",
       .computed =
           "The product of two equal vectors of ones by distance, from the rotation tables of width 64. True "
           "if it never rises, true on average if its means over distances 1, 2-3, 4-7, … all fall.",
       .kinds = {"rope"},
       .compute = [] { return rotation_falls(EncodingView(rope_plan())); }},
      {.id = "rope-decay-any",
       .statement = "RoPE makes q·k fall with distance whatever q and k are",
       .source = "circulating; refuted by Barbero et al. 2024, arXiv:2410.06205",
       .computed = "256 pairs of random normal queries and keys of width 64. True if the root mean square of "
                   "their products is a tenth less at distances 512 … 1023 than at 1 … 8.",
       .kinds = {"rope"},
       .compute = [] { return rotation_falls_for_any(EncodingView(rope_plan())); }},
      {.id = "rope-slow-pairs",
       .statement = "Some pairs of RoPE never make a whole turn within the trained length",
       .source = "Peng et al. 2023 (YaRN), arXiv:2309.00071, section 3.2",
       .computed =
           "The wavelengths of all pairs, from the rotation tables, against the trained length: a head of "
           "128 at 4096 as in LLaMA 2, and one of 32 at 64. True if there is such a pair in the first.",
       .kinds = {"rope"},
       .compute =
           [] {
             return rotation_has_slow_pairs(EncodingView(claim_plan("rope", 256, 2, 4096)),
                                            EncodingView(claim_plan("rope", 64, 2, 64)));
           }},
      {.id = "rope-pairings",
       .statement = "RoPE on neighbours and RoPE on halves are the same model up to the order of features",
       .source = "circulating: conversions of LLaMA checkpoints (huggingface/transformers#25199)",
       .computed = "Products of a random query and key of width 64 at all positions below 64 by halves, (p, "
                   "p + r/2), and by neighbours, (2p, 2p + 1), their features permuted accordingly. True if "
                   "they are equal within 1e-5 |q||k|.",
       .kinds = {"rope"},
       .compute =
           [] {
             return rotation_pairings_agree(EncodingView(rope_plan()), EncodingView(neighbours_plan()));
           }},
      {.id = "rope-first-layer",
       .statement = "RoPE acts in the first layer only",
       .source = "circulating: interview guides that say \"in the first layer or in q and k\"",
       .computed = "Which of six layers turn their queries and keys. True if the first alone does.",
       .kinds = {"rope"},
       .compute =
           [] {
             ModelPlan plan = rope_plan();
             plan.model.layers = 6;
             return rotation_in_first_layer(EncodingView(plan));
           }},
      {.id = "rope-float-angles",
       .statement = "float32 is exact enough for the angles of RoPE at any position",
       .source = "circulating; reported as a fault in huggingface/transformers#29285",
       .computed = "Cosines of position × frequency with both and their product in float32, against double, "
                   "over 64 pairs of base 10000 and 512 positions up to 4095 and to 131071. True if no error "
                   "reaches 1e-4.",
       .kinds = {"rope"},
       .compute =
           [] {
             return float_angles_are_enough(float_angle_error(4095), float_angle_error(131071),
                                            table_angle_error(EncodingView(rope_plan()), 131071));
           }},
  };
}

}  // namespace tapeline

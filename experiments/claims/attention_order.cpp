#include "experiments/claims/attention_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "experiments/claims/made_up.h"
#include "experiments/claims/subjects.h"

namespace tapeline {
namespace {

constexpr double order_rounding = 1e-5;
constexpr Index bytes_a_character = 3;

std::vector<Token> bytes_of(std::string_view text) {
  std::vector<Token> tokens;
  for (const char byte : text) tokens.push_back(static_cast<Token>(static_cast<unsigned char>(byte)));
  return tokens;
}

/// The largest difference between row `row` of one and row `other_row` of the other.
double row_difference(const std::vector<double>& rows, Index row, const std::vector<double>& others,
                      Index other_row, Index width) {
  double largest = 0;
  for (Index at = 0; at < width; ++at) {
    largest = std::max(largest, std::abs(rows[static_cast<std::size_t>(row * width + at)] -
                                         others[static_cast<std::size_t>(other_row * width + at)]));
  }
  return largest;
}

OrderDifference without_positions(Index layers, bool causal) {
  return order_difference(positionless_model(layers, {.causal = causal}));
}

}  // namespace

OrderDifference order_difference(const Transformer& model) {
  const Index width = model.plan().model.width;
  const std::vector<double> first = hidden_rows(model, bytes_of("我爱你"));
  const std::vector<double> second = hidden_rows(model, bytes_of("你爱我"));
  const std::vector<double> same_end = hidden_rows(model, bytes_of("爱我你"));
  const Index count = 3 * bytes_a_character;
  OrderDifference found;
  for (Index row = 0; row < count; ++row) {
    const Index character = row / bytes_a_character;
    const Index there = (2 - character) * bytes_a_character + row % bytes_a_character;
    found.moved = std::max(found.moved, row_difference(first, row, second, there, width));
    found.stayed = std::max(found.stayed, row_difference(first, row, second, row, width));
  }
  found.last = row_difference(first, count - 1, same_end, count - 1, width);
  return found;
}

ClaimFinding order_cannot_be_told(const OrderDifference& difference) {
  return {difference.moved <= order_rounding ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("the rows of a character in 我爱你 and in 你爱我 differ by at most {:.2g}",
                      difference.moved)};
}

ClaimFinding order_changes_nothing(const OrderDifference& difference) {
  return {
      difference.stayed <= order_rounding ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("rows move with their characters (difference {:.2g}), so those of a place differ, by up to "
                  "{:.2g}: equivariant",
                  difference.moved, difference.stayed)};
}

ClaimFinding order_known_to_one_layer(const OrderDifference& one_layer, const OrderDifference& two_layers) {
  return {
      one_layer.last > order_rounding ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("the last rows of 我爱你 and 爱我你 differ by {:.2g} after one layer, by {:.2g} after two",
                  one_layer.last, two_layers.last)};
}

std::vector<Claim> attention_order_claims() {
  return {
      {.id = "order-blind",
       .statement = "Without positions and without a mask attention cannot tell 我爱你 from 你爱我",
       .source = "circulating: question lists on positional encodings",
       .computed = "Both texts as bytes through two layers with random weights, no positions, no mask; the "
                   "rows of every character are compared, wherever it stands. True if they are equal within "
                   "1e-5.",
       .compute = [] { return order_cannot_be_told(without_positions(2, false)); }},
      {.id = "order-blind-causal",
       .statement = "Without positions a decoder cannot tell 我爱你 from 你爱我 either",
       .source = "circulating: question lists; refuted by Haviv et al. 2022, arXiv:2203.16634",
       .computed =
           "我爱你 and 你爱我 as bytes through two layers with random weights, no positions, a causal mask: "
           "what a row sees tells where it stands. True if the rows of every character are equal within "
           "1e-5.",
       .compute = [] { return order_cannot_be_told(without_positions(2, true)); }},
      {.id = "order-invariant",
       .statement = "Self-attention without positions is permutation-invariant",
       .source = "circulating: question lists and code walk-throughs",
       .computed =
           "我爱你 and 你爱我 as bytes through two layers with random weights, no positions, no mask; the "
           "rows of every place are compared. True if they are equal within 1e-5, as they would be if order "
           "changed nothing; they move with the characters instead.",
       .compute = [] { return order_changes_nothing(without_positions(2, false)); }},
      {.id = "order-one-layer",
       .statement = "With a causal mask one layer without positions knows the order of what stands before",
       .source = "circulating: \"the causal mask is a positional encoding\"",
       .computed =
           "The last rows of 我爱你 and 爱我你, which end alike, after one and after two causal layers "
           "without positions. A single row sums over a set: true if after one layer they differ by more "
           "than 1e-5.",
       .compute =
           [] { return order_known_to_one_layer(without_positions(1, true), without_positions(2, true)); }},
  };
}

}  // namespace tapeline

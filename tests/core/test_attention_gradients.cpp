#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "tests/support/attention_cases.h"
#include "tests/support/gradcheck.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// q, k, v and whatever learned parts the case has, checked together against central differences.
void check_gradients(const AttentionCase& c) {
  CAPTURE(c.name);
  AttentionInputs made(c);
  std::vector<Storage> inputs;
  inputs.push_back(std::move(made.q));
  inputs.push_back(std::move(made.k));
  inputs.push_back(std::move(made.v));
  for (Storage* learned : {&made.query_scale, &made.slopes, &made.table}) {
    if (learned->data() != nullptr) inputs.push_back(std::move(*learned));
  }
  gradcheck("attention, " + c.name, inputs,
            [&](Tape&, std::span<const Var> vars) {
              ScoreTerms terms;
              terms.scale = static_cast<Real>(c.scale());
              terms.mask = c.mask;
              terms.positions = c.positions();
              std::size_t next = 3;
              if (!c.query_scale.empty()) terms.query_scale = vars[next++];
              if (!c.slopes.empty()) terms.term = LinearBias{vars[next++]};
              if (!c.table.empty()) terms.term = DistanceBias{vars[next++], c.first_distance};
              return attention(vars[0], vars[1], vars[2], terms, c.dropout);
            },
            {.elements = 16});
}

TEST_CASE("attention: gradients against central differences over a grid of options") {
  struct Sizes {
    Index query_rows, key_rows, heads, key_heads, width;
  };
  const std::vector<Sizes> sizes{{1, 1, 1, 1, 3}, {9, 9, 2, 1, 8}, {5, 21, 2, 2, 10}, {67, 67, 2, 1, 6}};
  const std::vector<KeyMask> masks{{true, 0, 0}, {false, 0, 0}, {true, 6, 0}, {true, 4, 2}, {false, 5, 1}};
  for (const Sizes& s : sizes) {
    for (const KeyMask& mask : masks) {
      for (int term = 0; term < 3; ++term) {
        AttentionCase c{"", 1, s.heads, s.key_heads, s.query_rows, s.key_rows, s.width, mask};
        c.name = fmt::format("Tq {} Tk {} D {} causal {} window {} sinks {} term {}", s.query_rows,
                             s.key_rows, s.width, mask.causal, mask.window, mask.sinks, term);
        if (term == 1) c.slopes = spread(s.heads, 0.1, 0.5);
        if (term == 2) {
          c.first_distance = -s.query_rows;
          c.table = spread(s.heads * (s.query_rows + s.key_rows), -1, 1);
        }
        if (mask.window == 0) c.query_scale = spread(s.query_rows * (term == 1 ? 1 : s.heads), 0.5, 1.5);
        if (term == 0 && mask.sinks == 0) c.dropout = {0.25, random_key(1, "grid"), 0};
        check_gradients(c);
      }
    }
  }
}

TEST_CASE("attention: gradients with explicit positions") {
  AttentionCase c{"explicit", 2, 2, 1, 12, 12, 4};
  for (Index i = 0; i < 12; ++i) c.key_positions.push_back(2 * i + i % 3);
  c.query_positions = c.key_positions;
  c.slopes = spread(2, 0.1, 0.5);
  check_gradients(c);
  c.slopes.clear();
  c.table = spread(2 * 30, -1, 1);
  check_gradients(c);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "tests/support/gradcheck.h"
#include "tests/support/reference.h"
#include "tests/support/thread_setting.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

struct JointCase {
  const char* name;
  Index batch, time, heads, key_value_heads, width;
  bool slopes = false;
  KeyMask mask = {};
  Dropout dropout = {};
};

std::vector<JointCase> joint_cases() {
  const Dropout dropped{0.25, random_key(5, "joint"), 3};
  return {{"plain", 2, 70, 4, 4, 16},
          {"fewer key heads", 3, 65, 6, 2, 8},
          {"odd width", 2, 20, 3, 1, 5},
          {"one head, many tiles", 1, 200, 1, 1, 32},
          {"slopes, window, sinks", 2, 150, 4, 2, 16, true, {true, 20, 3}},
          {"dropout", 2, 70, 2, 2, 16, true, {}, dropped},
          {"not causal", 2, 70, 2, 2, 16, false, {false, 0, 0}}};
}

ScoreTerms terms_of(const JointCase& c, Tape& tape, const Storage& slopes) {
  ScoreTerms terms;
  terms.scale = Real(0.3);
  terms.mask = c.mask;
  if (c.slopes) terms.term = LinearBias{.slopes = tape.constant(slopes.tensor())};
  return terms;
}

using Attend = std::function<Var(Var joint, const ScoreTerms&)>;

/// Output and gradient of the joint rows; these are used once more beside the attention, so gradients add up.
std::vector<std::vector<double>> run(const JointCase& c, const Storage& rows, const Storage& weights,
                                     const Storage& slopes, const Attend& attend) {
  TestTape tape;
  const Var joint = tape->variable(rows.tensor());
  const Var out = attend(joint, terms_of(c, *tape, slopes));
  std::vector<std::vector<double>> all = {numbers_of(out.value())};
  tape->backward(add(weighted_sum(out, weights.tensor()), sum(multiply(joint, joint))));
  all.push_back(numbers_of(joint.grad()));
  return all;
}

TEST_CASE("joint_attention is split_heads, attention and merge_heads in one, output and gradient") {
  for (const JointCase& c : joint_cases()) {
    CAPTURE(c.name);
    const Storage rows =
        random_storage({c.batch, c.time, (c.heads + 2 * c.key_value_heads) * c.width}, "joint");
    const Storage weights = random_storage({c.batch, c.time, c.heads * c.width}, "weights");
    Storage slopes(Shape{c.heads});
    for (Index h = 0; h < c.heads; ++h) slopes.data()[h] = Real(0.1) * static_cast<Real>(h + 1);
    for (const int threads : {1, 2, 3}) {
      const ThreadSetting setting(threads);
      const auto whole = run(c, rows, weights, slopes, [&](Var joint, const ScoreTerms& terms) {
        return joint_attention(joint, c.heads, c.key_value_heads, terms, c.dropout);
      });
      const auto parts = run(c, rows, weights, slopes, [&](Var joint, const ScoreTerms& terms) {
        const HeadsSplit split = split_heads(joint, c.heads, c.key_value_heads);
        return merge_heads(attention(split.query, split.key, split.value, terms, c.dropout));
      });
      // The same products in the same order: the same bits.
      CHECK(whole[0] == parts[0]);
      CHECK(largest_difference(whole[1], parts[1]) <= 20 * rounding());
    }
  }
}

TEST_CASE("joint_attention: gradient, of slopes and query scale too") {
  std::array<Storage, 3> inputs{random_storage({2, 5, 8 * 4}, "joint"), random_storage({4}, "slopes"),
                                random_storage({5}, "scale")};
  gradcheck("joint_attention", inputs, [](Tape&, std::span<const Var> in) {
    ScoreTerms terms;
    terms.term = LinearBias{.slopes = in[1]};
    terms.query_scale = in[2];
    return joint_attention(in[0], 4, 2, terms);
  });
  gradcheck("joint_attention of a constant", std::span(inputs).subspan(1, 1),
            [&](Tape& tape, std::span<const Var> in) {
              ScoreTerms terms;
              terms.term = LinearBias{.slopes = in[0]};
              return joint_attention(tape.constant(inputs[0].tensor()), 4, 2, terms);
            });
}

TEST_CASE("joint_attention: what does not fit is refused by name") {
  TestTape tape(Recording::off);
  const Storage rows = random_storage({2, 3, 16}, "x"), matrix = random_storage({3, 16}, "matrix");
  const Var joint = tape->constant(rows.tensor());
  CHECK_THROWS_WITH_AS(joint_attention(tape->constant(matrix.tensor()), 2, 1, {}),
                       "joint_attention: the joint rows are [3, 16]; expected [batch, time, width]",
                       ShapeError);
  CHECK_THROWS_WITH_AS(joint_attention(joint, 3, 2, {}),
                       "joint_attention: 3 heads and 2 key/value heads; the second must divide the first",
                       ShapeError);
  CHECK_THROWS_AS(joint_attention(joint, 3, 3, {}), ShapeError);
  CHECK_THROWS_AS(joint_attention(joint, 2, 1, {}, {.rate = 2}), ConfigError);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "core/watch.h"
#include "tests/support/reference.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr auto number_bytes = static_cast<Index>(sizeof(Real));

/// What a watch saw of one op and the sum that it ends in.
struct Seen {
  std::vector<Timing> forward, backward;  // of that op alone
  std::vector<Timing> all;
};

Seen watched(std::string_view op, const std::vector<Shape>& inputs,
             const std::function<Var(std::span<const Var>)>& build, Recording recording = Recording::on) {
  Arena arena;
  GradientPool pool;
  Watch watch;
  std::vector<Storage> values;
  {
    Tape tape(arena, pool, recording, &watch);
    std::vector<Var> vars;
    for (const Shape& shape : inputs)
      vars.push_back(tape.variable(values.emplace_back(random_storage(shape, "watched")).tensor()));
    const Var output = build(vars);
    if (tape.recording()) tape.backward(output.shape() == Shape{} ? output : sum(output));
  }
  Seen seen{{}, {}, watch.timings()};
  for (const Timing& timing : seen.all) {
    if (timing.name == op) (timing.phase == Phase::forward ? seen.forward : seen.backward).push_back(timing);
  }
  return seen;
}

Storage numbers_in(const Shape& shape) { return random_storage(shape, "watched"); }

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("watch: timings nest, and what contains another one comes first and lasts longer") {
  Watch watch;
  {
    const WatchScope step(&watch, Timing::Kind::group, Phase::step, "step", 7);
    {
      const WatchScope op(&watch, Timing::Kind::op, Phase::data, "read");
      op.describe({2, 3}, 4, 5);
      op.describe({6}, 40, 50, "weight");
      CHECK_THROWS_WITH_AS(watch.clear(), "watch: \"read\" has not ended; clear it between steps",
                           StateError);
    }
    step.describe({9}, 9, 9);  // a group does nothing itself
    const WatchScope other(&watch, Timing::Kind::op, Phase::optimizer, "update");
  }
  const std::vector<Timing> all = watch.timings();
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "step");
  CHECK(all[0].number == 7);
  CHECK(all[0].flops == 0);
  CHECK(all[1].shape == Shape{6});
  CHECK(all[1].flops == 44);
  CHECK(all[1].bytes == 55);
  CHECK(all[1].parameter == "weight");
  CHECK(all[2].parent == 0);
  CHECK(all[0].begin <= all[1].begin);
  CHECK(all[1].end <= all[2].begin);
  CHECK(all[2].end <= all[0].end);
  watch.clear();
  CHECK(watch.timings().empty());
  const WatchScope nobody(nullptr, Timing::Kind::op, Phase::data, "read");
  nobody.describe({}, 1, 1);
}

TEST_CASE("watch: every op of the tape is seen by its name, forward and backward") {
  const std::array<Token, 6> ids{0, 1, 2, 2, 1, 0};
  const std::array<Index, 2> rows{1, 0};
  const Rotation turn = [] {
    Rotation rotation;
    rotation.width = 4;
    return rotation;
  }();
  const Storage cosine = numbers_in({3, 2}), sine = numbers_in({3, 2});
  struct Case {
    std::string op;
    std::vector<Shape> inputs;
    std::function<Var(std::span<const Var>)> build;
  };
  const auto first = [](auto op) { return [op](std::span<const Var> in) { return op(in[0]); }; };
  const auto two = [](auto op) { return [op](std::span<const Var> in) { return op(in[0], in[1]); }; };
  const std::vector<Case> cases = {
      {"add", {{2, 4}, {4}}, two(add)},
      {"subtract", {{2, 4}, {4}}, two(subtract)},
      {"multiply", {{2, 4}, {4}}, two(multiply)},
      {"scale", {{2, 4}}, first([](Var x) { return scale(x, 2); })},
      {"sum", {{2, 4}}, first(sum)},
      {"matmul", {{2, 4}, {4, 3}}, two([](Var a, Var b) { return matmul(a, b); })},
      {"linear", {{2, 4}, {3, 4}}, two([](Var x, Var w) { return linear(x, w, {}); })},
      {"linear_onto",
       {{2, 3}, {2, 4}, {3, 4}},
       [](std::span<const Var> in) { return linear_onto(in[0], in[1], in[2], {}); }},
      {"linear_heads", {{1, 3, 4}, {8, 4}}, two([](Var x, Var w) {
         return linear_heads(x, w, {}, 2, 1, {}, {});
       })},
      {"linear_gelu", {{2, 4}, {3, 4}}, two([](Var x, Var w) { return linear_gelu(x, w, {}); })},
      {"linear_gelu_tanh", {{2, 4}, {3, 4}}, two([](Var x, Var w) { return linear_gelu_tanh(x, w, {}); })},
      {"layer_norm", {{2, 4}, {4}}, two([](Var x, Var gain) { return layer_norm(x, gain, {}, 1e-5); })},
      {"rms_norm", {{2, 4}, {4}}, two([](Var x, Var gain) { return rms_norm(x, gain, 1e-5); })},
      {"gelu", {{2, 4}}, first(gelu)},
      {"gelu_tanh", {{2, 4}}, first(gelu_tanh)},
      {"swiglu", {{2, 4}}, first(swiglu)},
      {"dropout", {{1, 2, 4}}, first([](Var x) { return dropout(x, {.rate = 0.5}); })},
      {"embedding", {{3, 4}}, first([&](Var table) { return embedding(table, ids, 2, 3); })},
      {"gather_rows", {{3, 4}}, first([&](Var table) { return gather_rows(table, rows); })},
      {"cross_entropy", {{6, 4}, {3, 4}}, two([&](Var x, Var w) { return cross_entropy(x, w, {}, ids); })},
      {"merge_heads", {{1, 2, 3, 4}}, first(merge_heads)},
      {"rotate", {{1, 2, 3, 4}}, first([&](Var x) {
         Rotation rotation = turn;
         rotation.cosine = x.tape().constant(cosine.tensor());
         rotation.sine = x.tape().constant(sine.tensor());
         return rotate(x, rotation);
       })},
      {"attention", {{1, 2, 3, 4}}, first([](Var x) { return attention(x, x, x, ScoreTerms{}); })},
      {"joint_attention", {{1, 3, 8}}, first([](Var x) { return joint_attention(x, 2, 1, {}); })},
  };
  for (const Case& one : cases) {
    CAPTURE(one.op);
    Shape result;
    const Seen seen = watched(one.op, one.inputs, [&](std::span<const Var> in) {
      const Var output = one.build(in);
      result = output.shape();
      return output;
    });
    REQUIRE(seen.forward.size() == 1);
    REQUIRE(seen.backward.size() == 1);
    for (const Timing& timing : {seen.forward[0], seen.backward[0]}) {
      CHECK(timing.kind == Timing::Kind::op);
      CHECK(timing.shape == result);
      CHECK(timing.bytes > 0);
      CHECK(timing.end >= timing.begin);
    }
    CHECK(std::ranges::none_of(seen.all, [](const Timing& timing) { return timing.name.empty(); }));
  }
}

TEST_CASE("watch: split_heads is one op forward; its parts have a rule each and one for the whole") {
  const Seen seen = watched("split_heads", {Shape{1, 3, 8}}, [](std::span<const Var> in) {
    const HeadsSplit split = split_heads(in[0], 2, 1);
    return add(add(sum(split.query), sum(split.key)), sum(split.value));
  });
  REQUIRE(seen.forward.size() == 1);
  CHECK(seen.backward.size() == 4);
  CHECK(seen.forward[0].bytes == 2 * 24 * number_bytes);
  Index backward_bytes = 0;
  for (const Timing& timing : seen.backward) backward_bytes += timing.bytes;
  CHECK(backward_bytes == 2 * 24 * number_bytes);
}

TEST_CASE("watch: operations and bytes of the products") {
  const Seen both = watched("linear", {Shape{5, 4}, Shape{3, 4}, Shape{3}},
                            [](std::span<const Var> in) { return linear(in[0], in[1], in[2]); });
  CHECK(both.forward.at(0).flops == 2 * 5 * 4 * 3);
  CHECK(both.forward.at(0).bytes == (20 + 12 + 3 + 15) * number_bytes);
  CHECK(both.backward.at(0).flops == 2 * 2 * 5 * 4 * 3);
  CHECK(both.backward.at(0).bytes == (15 + 2 * 20 + 2 * 12 + 3) * number_bytes);

  // The stream is read and its gradient handed on as it stands; a gelu's product is kept and read again.
  const Seen onto = watched("linear_onto", {Shape{5, 3}, Shape{5, 4}, Shape{3, 4}, Shape{3}},
                            [](std::span<const Var> in) { return linear_onto(in[0], in[1], in[2], in[3]); });
  CHECK(onto.forward.at(0).bytes == both.forward.at(0).bytes + 15 * number_bytes);
  CHECK(onto.backward.at(0).bytes == both.backward.at(0).bytes);
  const Seen gelus = watched("linear_gelu", {Shape{5, 4}, Shape{3, 4}, Shape{3}},
                             [](std::span<const Var> in) { return linear_gelu(in[0], in[1], in[2]); });
  CHECK(gelus.forward.at(0).bytes == both.forward.at(0).bytes + 15 * number_bytes);
  CHECK(gelus.backward.at(0).bytes == both.backward.at(0).bytes + 15 * number_bytes);

  const Storage fixed = numbers_in({3, 4});
  const Seen one = watched("linear", {Shape{5, 4}}, [&](std::span<const Var> in) {
    return linear(in[0], in[0].tape().constant(fixed.tensor()), {});
  });
  CHECK(one.backward.at(0).flops == 2 * 5 * 4 * 3);

  // The gradients of the loss are products of its forward run; without a tape there are none.
  const std::array<Token, 5> targets{0, 1, 2, 0, 1};
  for (const Recording recording : {Recording::on, Recording::off}) {
    const Seen loss = watched(
        "cross_entropy", {Shape{5, 4}, Shape{3, 4}},
        [&](std::span<const Var> in) { return cross_entropy(in[0], in[1], {}, targets); }, recording);
    CHECK(loss.forward.at(0).flops == (recording == Recording::on ? 3 : 1) * 2 * 5 * 4 * 3);
  }

  // A sum hands its gradient on to the first operand and copies it for the second.
  const Seen sums =
      watched("add", {Shape{2, 4}, Shape{2, 4}}, [](std::span<const Var> in) { return add(in[0], in[1]); });
  CHECK(sums.forward.at(0).bytes == 3 * 8 * number_bytes);
  CHECK(sums.backward.at(0).bytes == 2 * 8 * number_bytes);
}

TEST_CASE("watch: attention counts the pairs that are seen, and the gradients that are wanted") {
  const Index batch = 2, heads = 4, rows = 5, width = 4;
  const Shape queries{batch, heads, rows, width}, keys{batch, 2, rows, width};
  const Storage k = numbers_in(keys), v = numbers_in(keys);
  const auto masked = [](const KeyMask& mask) {
    ScoreTerms terms;
    terms.mask = mask;
    return terms;
  };
  const auto seen = [&](const KeyMask& mask) {
    return watched("attention", {queries, keys, keys},
                   [&](std::span<const Var> in) { return attention(in[0], in[1], in[2], masked(mask)); });
  };
  const Index product = 2 * batch * heads * width;
  CHECK(seen({.causal = false}).forward.at(0).flops == 2 * product * 25);
  CHECK(seen({.causal = true}).forward.at(0).flops == 2 * product * 15);
  CHECK(seen({.causal = true}).backward.at(0).flops == 5 * product * 15);
  CHECK(seen({.causal = true, .window = 2}).forward.at(0).flops == 2 * product * 9);
  const Seen query_only = watched("attention", {queries}, [&](std::span<const Var> in) {
    Tape& tape = in[0].tape();
    return attention(in[0], tape.constant(k.tensor()), tape.constant(v.tensor()), masked({.causal = true}));
  });
  CHECK(query_only.backward.at(0).flops == 3 * product * 15);
}

TEST_CASE("watch: the parts of a model are groups, forward and again backward in reverse") {
  const Seen seen = watched("gelu", {Shape{2, 4}}, [](std::span<const Var> in) {
    Var x = in[0];
    for (Index number = 0; number < 2; ++number) {
      const PartScope part(x.tape(), "block", number);
      x = gelu(gelu(x));
    }
    return x;
  });
  std::vector<std::string> order;
  for (const Timing& timing : seen.all) {
    const bool inside = timing.parent >= 0;
    order.push_back((inside ? "  " : "") + std::string(timing.name) +
                    (timing.number < 0 ? "" : std::to_string(timing.number)));
  }
  const std::vector<std::string> expected = {"block0", "  gelu", "  gelu", "block1", "  gelu",
                                             "  gelu", "sum",    "sum",    "block1", "  gelu",
                                             "  gelu", "block0", "  gelu", "  gelu"};
  CHECK(order == expected);
}

TEST_CASE("watch: an op that throws, forward or backward, leaves nothing open") {
  Arena arena;
  GradientPool pool;
  Watch watch;
  Tape tape(arena, pool, Recording::on, &watch);
  const Storage table = numbers_in({3, 4});
  const Var x = tape.variable(table.tensor());
  const std::array<Token, 1> outside{3};
  const PartScope part(tape, "block", 0);
  CHECK_THROWS_AS(embedding(x, outside, 1, 1), ShapeError);
  const Var bad = tape.record("bad", tape.allocate({}), {x}, [](Var) { fail<StateError>("bad rule"); });
  CHECK_THROWS_AS(tape.backward(bad), StateError);
  CHECK(watch.timings().back().name == "bad");
  CHECK(watch.timings().back().end > 0);
  const WatchScope next(&watch, Timing::Kind::op, Phase::step, "next");
  CHECK(watch.timings().back().parent == 0);  // in the part that is still open, and in nothing else
}

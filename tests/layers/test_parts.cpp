#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"
#include "layers/embedding.h"
#include "layers/feed_forward.h"
#include "layers/linear.h"
#include "layers/norm.h"
#include "tests/support/reference.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

struct Bench {
  void set(const char* name, const std::vector<double>& numbers) {
    Parameter* parameter = store.find(name);
    REQUIRE(parameter != nullptr);
    const Tensor value = parameter->mutable_value();
    REQUIRE(value.size() == static_cast<Index>(numbers.size()));
    for (std::size_t i = 0; i < numbers.size(); ++i) value.data[i] = static_cast<Real>(numbers[i]);
  }

  /// layer(x) for one row x.
  template <class Layer>
  std::vector<double> run(const Layer& layer, const std::vector<double>& x) {
    Tape tape(arena, pool);
    Pass pass(tape);
    const Storage row = filled_storage({1, 1, static_cast<Index>(x.size())}, x);
    return numbers_of(layer(pass, tape.constant(row.tensor())).value());
  }

  ParameterStore store;
  Arena arena;
  GradientPool pool;
};

double gelu_of(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }
double silu_of(double x) { return x / (1 + std::exp(-x)); }

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("linear: weights are [out, in], alone and jointly") {
  Bench bench;
  const Linear one(bench.store.root().scope("one"), 2, 3);
  const JointLinear two(bench.store.root(), 2, {{"first", 2}, {"second", 1}});
  bench.store.allocate(0);
  bench.set("one/weight", {1, 2, 3, 4, 5, 6});
  bench.set("one/bias", {10, 20, 30});
  CHECK(bench.run(one, {1, 2}) == std::vector<double>{15, 31, 47});
  bench.set("first/weight", {1, 2, 3, 4});
  bench.set("second/weight", {5, 6});
  bench.set("first/bias", {10, 20});
  bench.set("second/bias", {30});
  CHECK(bench.run(two, {1, 2}) == std::vector<double>{15, 31, 47});
}

TEST_CASE("norm: the one that was asked for") {
  ModelConfig config;
  config.width = 4;
  Bench bench;
  const Norm layer(bench.store.root().scope("layer"), config);
  config.norm = "rms";
  const Norm rms(bench.store.root().scope("rms"), config);
  bench.store.allocate(0);
  CHECK(bench.store.find("rms/shift") == nullptr);
  CHECK(largest_difference(bench.run(layer, {40000, 40001, 40002, 40003}),
                           {-1.341635, -.447212, .447212, 1.341635}) < 1e-5);
  const double root = std::sqrt((1.0 + 4 + 9 + 16) / 4);
  CHECK(largest_difference(bench.run(rms, {1, 2, 3, 4}), {1 / root, 2 / root, 3 / root, 4 / root}) < 1e-5);
  bench.set("layer/gain", {2, 2, 2, 2});
  bench.set("layer/shift", {1, 1, 1, 1});
  CHECK(largest_difference(bench.run(layer, {0, 1, 2, 3}), {-1.683270, .105576, 1.894424, 3.683270}) < 1e-4);
}

TEST_CASE("feed-forward: the activation that was asked for, and which half of swiglu is the gate") {
  ModelConfig config;
  config.width = 1;
  config.heads = 1;
  config.feed_forward_width = 1;
  config.activation = "gelu";
  Bench bench;
  const FeedForward plain(bench.store.root().scope("plain"), config);
  config.activation = "swiglu";
  const FeedForward gated(bench.store.root().scope("gated"), config);
  bench.store.allocate(0);
  bench.set("plain/inner/weight", {2});
  bench.set("plain/output/weight", {3});
  bench.set("plain/output/bias", {0.5});
  CHECK(std::abs(bench.run(plain, {0.7})[0] - (3 * gelu_of(1.4) + 0.5)) < 1e-5);
  bench.set("gated/gate/weight", {2});
  bench.set("gated/inner/weight", {-1});
  bench.set("gated/output/weight", {3});
  CHECK(std::abs(bench.run(gated, {0.7})[0] - 3 * silu_of(1.4) * -0.7) < 1e-5);
}

TEST_CASE("embedding: a tied table gets the gradients of both uses") {
  ParameterStore store;
  const Embedding embedding(store.root(), 2, 1);
  store.allocate(0);
  const Tensor table = embedding.weight->mutable_value();
  table.data[0] = 1;
  table.data[1] = 3;
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool);
  Pass pass(tape);
  const std::vector<Token> input = {0}, target = {1};
  tape.backward(cross_entropy(embedding(pass, input, 1, 1), tape.leaf(*embedding.weight), Var{}, target));
  CHECK(largest_difference(numbers_of(embedding.weight->grad()), {-.119203, -.119203}) < 1e-5);
}

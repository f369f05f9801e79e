#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/parameter.h"
#include "core/tensor.h"
#include "tests/support/reference.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

void fill_normal(Tensor value, RandomKey key) {
  for (Index i = 0; i < value.size(); ++i) {
    value.data[i] = static_cast<Real>(random_normal(key, static_cast<std::uint64_t>(i)));
  }
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("parameters: names are paths, memory is one block in order of registration") {
  ParameterStore store;
  const Scope attention = store.root().scope("blocks").scope(Index{0}).scope("attention");
  Parameter& weight = attention.add("weight", {.shape = {3, 2}, .initializer = fill_normal, .decays = true});
  Parameter& bias = attention.add("bias", {.shape = {3}});
  CHECK(weight.name() == "blocks/0/attention/weight");
  CHECK(attention.prefix() == "blocks/0/attention");
  CHECK(weight.value().data == nullptr);
  store.allocate(1);
  CHECK(store.size() == 9);
  CHECK(bias.value().data == weight.value().data + 6);
  CHECK(bias.grad().data == weight.grad().data + 6);
  CHECK(store.gradients().shape == Shape{9});
  CHECK(store.find("blocks/0/attention/bias") == &bias);
  CHECK(store.find("blocks/0/attention") == nullptr);
  CHECK(weight.decays());
  CHECK_FALSE(bias.decays());
  CHECK(numbers_of(bias.value()) == std::vector<double>(3, 0.0));
}

TEST_CASE("parameters: a value depends on seed and name, not on what else there is") {
  const auto values = [](std::uint64_t seed, bool with_table) {
    ParameterStore store;
    if (with_table) store.add("table", {.shape = {5, 5}, .initializer = fill_normal});
    const Parameter& weight = store.add("weight", {.shape = {4}, .initializer = fill_normal});
    store.allocate(seed);
    return numbers_of(weight.value());
  };
  CHECK(values(0, true) == values(0, false));
  CHECK(values(0, false) == values(0, false));
  CHECK(values(0, false) != values(1, false));
}

TEST_CASE("parameters: a taken or empty name, or one that comes too late, is refused") {
  ParameterStore store;
  store.add("a", {.shape = {1}});
  CHECK_THROWS_AS(store.add("a", {.shape = {2}}), StateError);
  CHECK_THROWS_AS(store.add("", {.shape = {2}}), StateError);
  store.allocate(0);
  CHECK_THROWS_AS(store.add("b", {.shape = {1}}), StateError);
  CHECK_THROWS_AS(store.allocate(0), StateError);
}

TEST_CASE("parameters: writing moves the version, reading does not; gradients can be zeroed") {
  ParameterStore store;
  Parameter& a = store.add("a", {.shape = {2}, .bounds = {.lowest = 0, .highest = 4}});
  store.allocate(0);
  const std::uint64_t before = a.version();
  CHECK(a.value().data != nullptr);
  CHECK(a.version() == before);
  a.mutable_value().data[0] = 1;
  CHECK(a.version() != before);
  CHECK(a.bounds().highest == 4);
  a.grad().data[1] = 7;
  store.zero_gradients();
  CHECK(numbers_of(store.gradients()) == std::vector<double>{0, 0});
}

TEST_CASE("tensor: a storage begins as zeros; another shape must have the same size") {
  const Storage storage({2, 3});
  CHECK(numbers_of(storage.tensor()) == std::vector<double>(6, 0.0));
  CHECK(storage.tensor().reshaped({6}).data == storage.data());
  CHECK_THROWS_WITH_AS(storage.tensor().reshaped({4}),
                       "reshape: [2, 3] has 6 elements, [4] has 4; the sizes must be equal", ShapeError);
  CHECK(Storage({0, 3}).data() != nullptr);
}

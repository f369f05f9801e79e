#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "train/optimizer.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

Initializer filled(Real value) {
  return [value](Tensor into, RandomKey) { std::fill_n(into.data, into.size(), value); };
}

void set_gradient(Parameter& parameter, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) parameter.grad().data[i] = static_cast<Real>(values[i]);
}

OptimizerConfig adam(double decay = 0) {
  return {.kind = "adamw", .lr = 0.1, .betas = {0.9, 0.999}, .eps = 1e-8, .weight_decay = decay, .clip = 0};
}

OptimizerConfig of_kind(const std::string& kind, double decay = 0) {
  OptimizerConfig config = adam(decay);
  config.kind = kind;
  return config;
}

TEST_CASE("optimizer: two steps of sgd and of lion by hand") {
  const struct {
    const char* kind;
    double first, second;
  } cases[] = {{"sgd", 0.9, 0.86}, {"lion", 0.9, 1.0}};
  for (const auto& expected : cases) {
    ParameterStore store;
    Parameter& w = store.root().add("w", {.shape = {1}, .initializer = filled(1)});
    store.allocate(0);
    const auto optimizer = make_optimizer(of_kind(expected.kind), store);
    CHECK(optimizer->kind() == expected.kind);
    set_gradient(w, {1});
    CHECK(optimizer->update({.rate = 0.1}).applied);
    CHECK(w.value().data[0] == doctest::Approx(expected.first).epsilon(1e-6));
    CHECK(w.grad().data[0] == 0);
    set_gradient(w, {-0.5});
    optimizer->update({.rate = 0.1});
    CHECK(w.value().data[0] == doctest::Approx(expected.second).epsilon(1e-6));
    CHECK(optimizer->updates() == 2);
  }
}

TEST_CASE("optimizer: two Adam steps, the count of the first remembered") {
  ParameterStore store;
  Parameter& w = store.root().add("w", {.shape = {1}, .initializer = filled(1)});
  store.allocate(0);
  const auto optimizer = make_optimizer(adam(), store);
  set_gradient(w, {1});
  CHECK(optimizer->update({.rate = 0.1}).applied);
  CHECK(w.value().data[0] == doctest::Approx(0.9).epsilon(1e-6));
  CHECK(w.grad().data[0] == 0);
  CHECK(optimizer->updates() == 1);
  set_gradient(w, {-0.5});
  optimizer->update({.rate = 0.1});
  CHECK(w.value().data[0] == doctest::Approx(0.873366).epsilon(1e-6));
}

TEST_CASE("optimizer: only matrices decay, whatever the kind") {
  for (const std::string& kind : optimizer_kinds()) {
    CAPTURE(kind);
    ParameterStore store;
    Parameter& weight =
        store.root().add("weight", {.shape = {2, 2}, .initializer = filled(1), .decays = true});
    Parameter& gain = store.root().add("gain", {.shape = {2}, .initializer = filled(1)});
    store.allocate(0);
    const auto optimizer = make_optimizer(of_kind(kind, 0.5), store);
    optimizer->update({.rate = 0.1});
    CHECK(weight.value().data[3] == doctest::Approx(0.95));
    CHECK(gain.value().data[1] == 1);
  }
}

TEST_CASE("optimizer: sgd and lion see the divided and clipped gradient") {
  for (const char* kind : {"sgd", "lion"}) {
    ParameterStore store;
    Parameter& a = store.root().add("a", {.shape = {1}, .initializer = filled(0)});
    Parameter& b = store.root().add("b", {.shape = {1}, .initializer = filled(0)});
    store.allocate(0);
    const auto optimizer = make_optimizer(of_kind(kind), store);
    set_gradient(a, {30});
    set_gradient(b, {40});
    CHECK(optimizer->update({.rate = 1, .divisor = 10, .clip = 1}).gradient_norm == doctest::Approx(5));
    // sgd: the velocity is .6, .8; lion: a hundredth of it.
    const double share = std::string(kind) == "sgd" ? 1 : 0.001;
    CHECK(optimizer->state(0, 0).data[0] == doctest::Approx(0.6 * share));
    CHECK(optimizer->state(0, 1).data[0] == doctest::Approx(0.8 * share));
  }
}

TEST_CASE("optimizer: the norm is that of the divided gradient, clipped as a whole") {
  ParameterStore store;
  Parameter& a = store.root().add("a", {.shape = {1}, .initializer = filled(0)});
  Parameter& b = store.root().add("b", {.shape = {1}, .initializer = filled(0)});
  store.allocate(0);
  OptimizerConfig config = adam();
  config.betas = {0, 0};
  config.eps = 1;  // the step is then g / (|g| + 1)
  const auto optimizer = make_optimizer(config, store);
  set_gradient(a, {30});
  set_gradient(b, {40});
  const UpdateReport report = optimizer->update({.rate = 1, .divisor = 10, .clip = 1});
  CHECK(report.gradient_norm == doctest::Approx(5));
  CHECK(a.value().data[0] == doctest::Approx(-0.6 / 1.6));
  CHECK(b.value().data[0] == doctest::Approx(-0.8 / 1.8));
}

TEST_CASE("optimizer: a norm that is no number changes nothing and names the parameter") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [kind, bad] : std::vector<std::pair<std::string, double>>{{"adamw", infinity},
                                                                             {"adamw", NAN},
                                                                             {"lion", infinity},
                                                                             {"lion", NAN},
                                                                             {"sgd", infinity},
                                                                             {"sgd", NAN}}) {
    ParameterStore store;
    store.root().add("fine", {.shape = {2}, .initializer = filled(1)});
    Parameter& w = store.root().add("broken", {.shape = {2}, .initializer = filled(1)});
    store.allocate(0);
    const auto optimizer = make_optimizer(of_kind(kind, 0.5), store);
    set_gradient(w, {1, 1});
    optimizer->update({.rate = 0.1, .clip = 1});
    const Real before = w.value().data[0], moment = optimizer->state(0, 1).data[0];
    set_gradient(w, {bad, 1});
    const UpdateReport report = optimizer->update({.rate = 0.1, .clip = 1});
    CHECK_FALSE(report.applied);
    CHECK_FALSE(std::isfinite(report.gradient_norm));
    CHECK(report.first_bad == "broken");
    CHECK(w.value().data[0] == before);
    CHECK(optimizer->state(0, 1).data[0] == moment);
    CHECK(optimizer->updates() == 1);
    CHECK(w.grad().data[1] == 0);
  }
}

TEST_CASE("optimizer: bounds hold after every update") {
  for (const std::string& kind : optimizer_kinds()) {
    ParameterStore store;
    Parameter& w =
        store.root().add("slope", {.shape = {1}, .initializer = filled(1), .bounds = {.lowest = Real(0.5)}});
    store.allocate(0);
    const auto optimizer = make_optimizer(of_kind(kind), store);
    for (int i = 0; i < 20; ++i) {
      set_gradient(w, {1});
      optimizer->update({.rate = 0.1});
    }
    CHECK(w.value().data[0] == Real(0.5));
  }
}

TEST_CASE("optimizer: kinds and values that it does not have are refused") {
  ParameterStore store;
  store.allocate(0);
  OptimizerConfig config;
  config.kind = "lino";
  CHECK_THROWS_WITH_AS(
      make_optimizer(config, store),
      "optimizer.kind is \"lino\"; it must be one of adamw, lion, sgd; did you mean \"lion\"?", ConfigError);
  config.kind = "sgd";
  config.momentum = 1;
  CHECK_THROWS_AS(make_optimizer(config, store), ConfigError);
  config = {};
  config.kind = "lion";
  config.betas = {0.9, 1.0};
  CHECK_THROWS_AS(make_optimizer(config, store), ConfigError);
  config = {};
  config.betas = {0.9, 1.0};
  CHECK_THROWS_AS(make_optimizer(config, store), ConfigError);
  config = {};
  config.betas = {0.9};
  CHECK_THROWS_AS(make_optimizer(config, store), ConfigError);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

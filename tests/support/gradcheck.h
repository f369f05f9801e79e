#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/parameter.h"
#include "core/tape.h"
#include "tests/support/reference.h"

/// The derivative an op claims against the one its values show.
namespace tapeline::inline TAPELINE_PRECISION {

/// A place where the gradient is checked: numbers that can be changed one by one, and the gradient's name.
struct CheckedInput {
  std::string name;
  Tensor value;
};

struct GradcheckLimits {
  double relative = 1e-6;
  double absolute = 1e-9;
  double step = 1e-5;
  Index elements = 48;  ///< how many elements of each input are checked, spread evenly
};

namespace differences {

/// Compares `analytic` (one vector an input) with central differences of sum(weights * output()); one line
/// for each element that differs.
inline std::vector<std::string> mismatches(std::string_view op, std::span<const CheckedInput> inputs,
                                           const std::vector<std::vector<double>>& analytic,
                                           const Storage& weights,
                                           const std::function<std::vector<double>()>& output,
                                           const GradcheckLimits& limits) {
  std::vector<std::string> found;
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    const Index size = inputs[n].value.size();
    const Index checked = std::min(size, limits.elements);
    for (Index c = 0; c < checked; ++c) {
      const Index element = c * size / checked;
      Real& x = inputs[n].value.data[element];
      const Real kept = x;
      x = static_cast<Real>(static_cast<double>(kept) + limits.step);
      const double above = static_cast<double>(x);
      const std::vector<double> high = output();
      x = static_cast<Real>(static_cast<double>(kept) - limits.step);
      const double width = above - static_cast<double>(x);
      const std::vector<double> low = output();
      x = kept;
      // Differences before the sum: outputs that do not depend on x cancel without a trace.
      long double change = 0;
      for (std::size_t i = 0; i < high.size(); ++i) {
        change += static_cast<long double>(weights.data()[i]) * (static_cast<long double>(high[i]) - low[i]);
      }
      const double numeric = static_cast<double>(change / width);
      const double claimed = analytic[n][static_cast<std::size_t>(element)];
      const double limit = limits.relative * std::max(std::abs(claimed), std::abs(numeric)) + limits.absolute;
      if (std::abs(claimed - numeric) <= limit) continue;
      found.push_back(fmt::format("{}: gradient by {}, element {}: the rule says {}, differences say {}", op,
                                  inputs[n].name, element, claimed, numeric));
    }
  }
  return found;
}

/// Unequal weights of either sign, none near 0.
inline Storage output_weights(const Shape& shape) {
  Storage weights(shape);
  const RandomKey key = random_key(11, "output weights");
  for (Index i = 0; i < shape.size(); ++i) {
    const double u = random_uniform(key, static_cast<std::uint64_t>(i));
    weights.data()[i] = static_cast<Real>((i % 2 == 0 ? 1 : -1) * (0.25 + u));
  }
  return weights;
}

inline bool all_finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace differences

/// What is wrong with the gradient of `build` by every input (all with gradient), one line a fault. In double
/// precision the output is weighted element by element, and the analytic gradient must agree with central
/// differences within 1e-6 * max(|a|, |n|) + 1e-9. In single precision differences prove nothing: there
/// forward and backward run once and must be finite. `build(tape, vars)` must depend on nothing but the
/// values.
inline std::vector<std::string> gradient_faults(std::string_view op, std::span<Storage> inputs,
                                                const std::function<Var(Tape&, std::span<const Var>)>& build,
                                                const GradcheckLimits& limits = {}) {
  std::vector<std::string> faults;
  Arena arena;
  GradientPool pool;
  const auto run = [&](Recording recording,
                       const std::function<void(Tape&, std::span<const Var>, Var)>& use) {
    Tape tape(arena, pool, recording);
    std::vector<Var> vars;
    for (const Storage& input : inputs) vars.push_back(tape.variable(input.tensor()));
    use(tape, vars, build(tape, vars));
  };
  Storage weights;
  std::vector<std::vector<double>> analytic;
  run(Recording::on, [&](Tape& tape, std::span<const Var> vars, Var output) {
    weights = differences::output_weights(output.shape());
    tape.backward(weighted_sum(output, weights.tensor()));
    for (const Var var : vars) {
      analytic.push_back(numbers_of(var.grad()));
      if (!differences::all_finite(analytic.back()))
        faults.push_back(fmt::format("{}: a gradient is not finite", op));
    }
  });
  if (pool.used_bytes() != 0) faults.push_back(fmt::format("{}: gradient memory was not given back", op));
  if (sizeof(Real) < sizeof(double)) return faults;
  std::vector<CheckedInput> checked;
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    checked.push_back({fmt::format("input {} {}", n, inputs[n].shape().text()), inputs[n].tensor()});
  }
  const auto output = [&] {
    std::vector<double> numbers;
    run(Recording::off,
        [&](Tape&, std::span<const Var>, Var result) { numbers = numbers_of(result.value()); });
    return numbers;
  };
  for (std::string& line : differences::mismatches(op, checked, analytic, weights, output, limits)) {
    faults.push_back(std::move(line));
  }
  return faults;
}

inline void gradcheck(std::string_view op, std::span<Storage> inputs,
                      const std::function<Var(Tape&, std::span<const Var>)>& build,
                      const GradcheckLimits& limits = {}) {
  const std::vector<std::string> faults = gradient_faults(op, inputs, build, limits);
  CHECK_MESSAGE(faults.empty(), fmt::format("{}", fmt::join(faults, "\n")));
}

/// The same for everything in a parameter store: `build(tape)` takes its leaves itself.
inline void gradcheck(std::string_view op, ParameterStore& store, const std::function<Var(Tape&)>& build,
                      const GradcheckLimits& limits = {}) {
  Arena arena;
  GradientPool pool;
  Storage weights;
  store.zero_gradients();
  {
    Tape tape(arena, pool);
    const Var output = build(tape);
    weights = differences::output_weights(output.shape());
    tape.backward(weighted_sum(output, weights.tensor()));
  }
  std::vector<CheckedInput> checked;
  std::vector<std::vector<double>> analytic;
  for (const Parameter& parameter : store.parameters()) {
    checked.push_back(
        {fmt::format("\"{}\" {}", parameter.name(), parameter.shape().text()), parameter.value()});
    analytic.push_back(numbers_of(parameter.grad()));
    CHECK_MESSAGE(differences::all_finite(analytic.back()), op, ": the gradient of ", parameter.name(),
                  " is not finite");
  }
  if (sizeof(Real) < sizeof(double)) return;
  const auto output = [&] {
    Tape tape(arena, pool, Recording::off);
    return numbers_of(build(tape).value());
  };
  const std::vector<std::string> faults =
      differences::mismatches(op, checked, analytic, weights, output, limits);
  CHECK_MESSAGE(faults.empty(), fmt::format("{}", fmt::join(faults, "\n")));
}

}  // namespace tapeline::inline TAPELINE_PRECISION

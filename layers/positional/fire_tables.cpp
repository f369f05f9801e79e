#include "layers/positional/fire_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/ops/operand_text.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Keeps a denominator above 0; the paper's.
constexpr double denominator_epsilon = 1e-6;

void require_number(const char* op, const char* name, Var operand) {
  require<ShapeError>(operand && operand.shape() == Shape{1}, "{}: {} is {}; expected [1]", op, name,
                      text(operand));
}

double number_of(Var x) { return static_cast<double>(*x.value().data); }
void add_gradient_to(Var x, double gradient) {
  if (x.needs_grad()) *x.grad().data += static_cast<Real>(gradient);
}
double size_of(Index distance) { return std::abs(static_cast<double>(distance)); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/// In which segments the units of the hidden layer are on: unit u in [begin[u], end[u]).
struct ActiveSegments {
  Index units = 0;
  Index* begin = nullptr;
  Index* end = nullptr;
  Real* cuts = nullptr;  // [units], ascending
};

ActiveSegments active_segments(Arena& arena, const Tensor& weight, const Tensor& bias) {
  const Index units = weight.size();
  const auto count = static_cast<std::size_t>(units);
  ActiveSegments active{units, arena.allocate_array<Index>(count), arena.allocate_array<Index>(count),
                        arena.allocate_array<Real>(count)};
  double* const cuts = arena.allocate_array<double>(count);
  for (Index u = 0; u < units; ++u) {
    const auto w = static_cast<double>(weight.data[u]), b = static_cast<double>(bias.data[u]);
    double cut = -b / w;
    // relu(w x) is off at x = 0, which is the diagonal, and on from the next number on.
    if (b == 0 && w > 0) cut = static_cast<double>(std::numeric_limits<Real>::min());
    const bool cuts_here = w != 0 && cut > 0;
    cuts[u] = cuts_here ? cut : HUGE_VAL;
    // Off throughout only where that is certain: a NaN has to come through.
    const bool off = !cuts_here && w <= 0 && b <= 0;
    active.begin[u] = 0;
    active.end[u] = off ? 0 : units + 1;
  }
  Index* const order = arena.allocate_array<Index>(count);
  std::iota(order, order + units, Index{0});
  std::sort(order, order + units,
            [cuts](Index a, Index b) { return cuts[a] < cuts[b] || (cuts[a] == cuts[b] && a < b); });
  for (Index n = 0; n < units; ++n) {
    const Index u = order[n];
    active.cuts[n] = static_cast<Real>(cuts[u]);
    if (cuts[u] == HUGE_VAL) continue;
    (weight.data[u] > 0 ? active.begin : active.end)[u] = n + 1;
  }
  return active;
}

/// sums[h, s] = bias[h] + sum of output_weight[h, u] inner[u] over the units that are on in segment s.
Var sums_by_segment(const char* op, Var inner, Var output_weight, Var bias, const ActiveSegments& active) {
  Tape& tape = inner.tape();
  const OpScope watched(tape, op);
  const Index heads = output_weight.shape()[0], units = active.units, segments = units + 1;
  const Tensor sums = tape.allocate({heads, segments});
  double* const changes = tape.arena().allocate_array<double>(static_cast<std::size_t>(segments + 1));
  for (Index h = 0; h < heads; ++h) {
    std::fill_n(changes, segments + 1, 0.0);
    if (bias) changes[0] = static_cast<double>(bias.value().data[h]);
    for (Index u = 0; u < units; ++u) {
      const double part = static_cast<double>(output_weight.value().data[h * units + u]) *
                          static_cast<double>(inner.value().data[u]);
      changes[active.begin[u]] += part;
      changes[active.end[u]] -= part;
    }
    double sum = 0;
    for (Index s = 0; s < segments; ++s) {
      sum += changes[s];
      sums.data[h * segments + s] = static_cast<Real>(sum);
    }
  }
  return tape.record(op, sums, {inner, output_weight, bias}, [=](Var output) {
    const Real* const d_sums = output.grad().data;
    Arena& arena = output.tape().arena();
    double* const before = arena.allocate_array<double>(static_cast<std::size_t>(segments + 1));
    double* const d_inner = arena.allocate_array<double>(static_cast<std::size_t>(units));
    std::fill_n(d_inner, units, 0.0);
    for (Index h = 0; h < heads; ++h) {
      before[0] = 0;
      for (Index s = 0; s < segments; ++s) {
        before[s + 1] = before[s] + static_cast<double>(d_sums[h * segments + s]);
      }
      for (Index u = 0; u < units; ++u) {
        const double d_part = before[active.end[u]] - before[active.begin[u]];
        d_inner[u] += d_part * static_cast<double>(output_weight.value().data[h * units + u]);
        if (output_weight.needs_grad()) {
          output_weight.grad().data[h * units + u] +=
              static_cast<Real>(d_part * static_cast<double>(inner.value().data[u]));
        }
      }
      if (bias && bias.needs_grad()) bias.grad().data[h] += static_cast<Real>(before[segments]);
    }
    if (!inner.needs_grad()) return;
    for (Index u = 0; u < units; ++u) inner.grad().data[u] += static_cast<Real>(d_inner[u]);
  });
}

}  // namespace

void fill_log_distances(const Tensor& kappa, const DistanceRows& rows) {
  const double rate = std::abs(static_cast<double>(*kappa.data));
  for (Index n = 0; n < rows.count; ++n) {
    rows.to[n] = static_cast<Real>(std::log1p(rate * size_of(rows.first + n)));
  }
}

Var log_distances(Var kappa, Index first_distance, Index count) {
  constexpr const char* op = "log_distances";
  require_number(op, "kappa", kappa);
  const OpScope watched(kappa.tape(), op);
  const Tensor values = kappa.tape().allocate({count});
  fill_log_distances(kappa.value(), {.to = values.data, .first = first_distance, .count = count});
  return kappa.tape().record(op, values, {kappa}, [=](Var output) {
    const Real* const d_values = output.grad().data;
    const double rate = std::abs(number_of(kappa));
    double sum = 0;
    for (Index n = 0; n < count; ++n) {
      const double distance = size_of(first_distance + n);
      sum += static_cast<double>(d_values[n]) * distance / (rate * distance + 1);
    }
    add_gradient_to(kappa, sign(number_of(kappa)) * sum);
  });
}

Var log_thresholds(Var kappa, Var mu, double length, const Positions& rows) {
  constexpr const char* op = "log_thresholds";
  require_number(op, "kappa", kappa);
  require_number(op, "mu", mu);
  const OpScope watched(kappa.tape(), op);
  const Tensor values = kappa.tape().allocate({rows.count});
  const double rate = std::abs(number_of(kappa)), threshold = std::abs(number_of(mu) * length);
  for (Index n = 0; n < rows.count; ++n) {
    const double largest = std::max(static_cast<double>(rows.at(n)), threshold);
    values.data[n] = static_cast<Real>(std::log1p(rate * largest) + denominator_epsilon);
  }
  return kappa.tape().record(op, values, {kappa, mu}, [=](Var output) {
    const Real* const d_values = output.grad().data;
    double by_rate = 0, by_threshold = 0;
    for (Index n = 0; n < rows.count; ++n) {
      const auto position = static_cast<double>(rows.at(n));
      const double largest = std::max(position, threshold);
      const double d_product = static_cast<double>(d_values[n]) / (rate * largest + 1);
      by_rate += d_product * largest;
      const double share = position < threshold ? 1 : position == threshold ? 0.5 : 0;
      by_threshold += d_product * rate * share;
    }
    add_gradient_to(kappa, sign(number_of(kappa)) * by_rate);
    add_gradient_to(mu, sign(number_of(mu) * length) * length * by_threshold);
  });
}

PiecewiseLinear piecewise_linear(Var inner_weight, Var inner_bias, Var output_weight, Var output_bias) {
  const bool fits = inner_weight && inner_bias && output_weight && output_bias &&
                    inner_weight.shape().rank() == 1 && output_bias.shape().rank() == 1 &&
                    inner_bias.shape() == inner_weight.shape() &&
                    output_weight.shape() == Shape{output_bias.shape()[0], inner_weight.shape()[0]};
  require<ShapeError>(fits,
                      "piecewise_linear: inner weight {}, inner bias {}, output weight {}, output bias {}; "
                      "expected [units], [units], [heads, units], [heads]",
                      text(inner_weight), text(inner_bias), text(output_weight), text(output_bias));
  Tape& tape = inner_weight.tape();
  const ActiveSegments active = active_segments(tape.arena(), inner_weight.value(), inner_bias.value());
  return {tape.constant({inner_weight.shape(), active.cuts}),
          sums_by_segment("segment_slopes", inner_weight, output_weight, Var{}, active),
          sums_by_segment("segment_intercepts", inner_bias, output_weight, output_bias, active)};
}

}  // namespace tapeline::inline TAPELINE_PRECISION

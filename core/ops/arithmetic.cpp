#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/ops.h"
#include "core/ops/work.h"
#include "core/parallel.h"

/// Element-wise arithmetic with broadcasting, and the ops that only rearrange or add up.
namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Elements that are worth a thread of their own.
constexpr Index grain = Index{1} << 14;

/// How two operands lie in their common shape: extents from the right, and the step in memory along each
/// axis, 0 where an operand is repeated.
struct Broadcast {
  static constexpr std::size_t axes = Shape::max_rank;
  Shape shape;
  std::array<Index, axes> extent{1, 1, 1, 1};
  std::array<Index, axes> step_a{}, step_b{};

  Index inner() const { return extent[axes - 1]; }
  Index outer() const { return extent[0] * extent[1] * extent[2]; }
  /// Where row `row` (of outer() rows of inner() elements) of an operand begins.
  Index offset(const std::array<Index, axes>& step, Index row) const {
    const Index i2 = row % extent[2];
    const Index i1 = row / extent[2] % extent[1];
    const Index i0 = row / extent[2] / extent[1];
    return i0 * step[0] + i1 * step[1] + i2 * step[2];
  }
};

/// Extent of `shape` on axis `axis` of four, aligned at the last; 1 where the shape has none.
Index aligned_extent(const Shape& shape, int axis) {
  const int own = axis - (Shape::max_rank - shape.rank());
  return own < 0 ? 1 : shape[own];
}

Shape shape_of_rank(const std::array<Index, Broadcast::axes>& extent, int rank) {
  switch (rank) {
    case 0:
      return {};
    case 1:
      return {extent[3]};
    case 2:
      return {extent[2], extent[3]};
    case 3:
      return {extent[1], extent[2], extent[3]};
    default:
      return {extent[0], extent[1], extent[2], extent[3]};
  }
}

Broadcast broadcast(std::string_view op, const Shape& a, const Shape& b) {
  Broadcast result;
  Index size_a = 1, size_b = 1;
  for (int axis = Shape::max_rank - 1; axis >= 0; --axis) {
    const Index of_a = aligned_extent(a, axis), of_b = aligned_extent(b, axis);
    if (of_a != of_b && of_a != 1 && of_b != 1) [[unlikely]] {
      fail<ShapeError>("{}: a is {}, b is {}; aligned at the last axis, extents must be equal or 1", op,
                       a.text(), b.text());
    }
    const auto at = static_cast<std::size_t>(axis);
    result.extent[at] = of_a == 1 ? of_b : of_a;
    result.step_a[at] = of_a == 1 ? 0 : size_a;
    result.step_b[at] = of_b == 1 ? 0 : size_b;
    size_a *= of_a;
    size_b *= of_b;
  }
  result.shape = shape_of_rank(result.extent, std::max(a.rank(), b.rank()));
  return result;
}

/// Whether `shape` is the last extents of `whole`, repeated over all the others.
bool repeats_over_leading(const Shape& shape, const Shape& whole) {
  int axis = Shape::max_rank - 1;
  while (axis >= 0 && aligned_extent(shape, axis) == aligned_extent(whole, axis)) --axis;
  while (axis >= 0 && aligned_extent(shape, axis) == 1) --axis;
  return axis < 0;
}

// An operation gives its value, and the gradient of either operand from the output's and the other operand.
// Lambdas, not functions: each has a type of its own, so loops over them are compiled with the operation
// inside.
struct Addition {
  static constexpr std::string_view name = "add";
  static constexpr bool linear = true;  // the gradients do not read the operands
  static constexpr auto value = [](Real a, Real b) { return a + b; };
  static constexpr auto d_a = [](Real d, Real) { return d; };
  static constexpr auto d_b = [](Real d, Real) { return d; };
};
struct Subtraction {
  static constexpr std::string_view name = "subtract";
  static constexpr bool linear = true;
  static constexpr auto value = [](Real a, Real b) { return a - b; };
  static constexpr auto d_a = [](Real d, Real) { return d; };
  static constexpr auto d_b = [](Real d, Real) { return -d; };
};
struct Multiplication {
  static constexpr std::string_view name = "multiply";
  static constexpr bool linear = false;
  static constexpr auto value = [](Real a, Real b) { return a * b; };
  static constexpr auto d_a = [](Real d, Real b) { return d * b; };
  static constexpr auto d_b = [](Real d, Real a) { return d * a; };
};

/// out[c] = f(a[c * step_a], b[c * step_b]) for one row; steps are 0 or 1, and the usual pairs have a loop of
/// their own.
template <class F>
void combine_row(const Real* a, Index step_a, const Real* b, Index step_b, Real* out, Index count, F f) {
  if (step_a == 1 && step_b == 1) {
    for (Index c = 0; c < count; ++c) out[c] = f(a[c], b[c]);
  } else {
    for (Index c = 0; c < count; ++c) out[c] = f(a[c * step_a], b[c * step_b]);
  }
}

template <class Operation>
void combine(const Tensor& a, const Tensor& b, const Broadcast& layout, const Tensor& out) {
  if (a.size() == out.size() && b.size() == out.size()) {
    parallel_for(out.size(), grain, [&](Index begin, Index end) {
      combine_row(a.data + begin, 1, b.data + begin, 1, out.data + begin, end - begin, Operation::value);
    });
    return;
  }
  const Index inner = layout.inner();
  if (inner == 0) return;
  parallel_for(layout.outer(), std::max<Index>(1, grain / inner), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      combine_row(a.data + layout.offset(layout.step_a, row), layout.step_a[3],
                  b.data + layout.offset(layout.step_b, row), layout.step_b[3], out.data + row * inner, inner,
                  Operation::value);
    }
  });
}

/// Adds term(d_out, other) to the gradient of `x`, summed in double over the places where x was repeated.
template <class Term>
void add_gradient(Var x, const Tensor& other, const Tensor& d_out, const Broadcast& layout,
                  const std::array<Index, Broadcast::axes>& step_x,
                  const std::array<Index, Broadcast::axes>& step_other, bool reads_other, Term term) {
  const GradientTarget target = x.grad_target();
  Real* d_x = target.tensor.data;
  const Index size = target.tensor.size();
  const bool same_other = !reads_other || other.size() == d_out.size();
  const Real* o = reads_other ? other.data : d_out.data;
  if (size == d_out.size() && same_other) {
    parallel_for(size, grain, [&](Index begin, Index end) {
      if (target.beta == 0) {
        for (Index i = begin; i < end; ++i) d_x[i] = term(d_out.data[i], o[i]);
      } else {
        for (Index i = begin; i < end; ++i) d_x[i] += term(d_out.data[i], o[i]);
      }
    });
    return;
  }
  auto* sums = x.tape().arena().allocate_array<double>(static_cast<std::size_t>(size));
  std::fill_n(sums, size, 0.0);
  if (same_other && repeats_over_leading(x.shape(), layout.shape)) {
    // Columns, not rows, go to threads: each sum is made by one of them, in the order of the rows.
    const Index repeats = size == 0 ? 0 : d_out.size() / size;
    parallel_for(size, std::max<Index>(16, grain / std::max<Index>(repeats, 1)), [&](Index begin, Index end) {
      for (Index r = 0; r < repeats; ++r) {
        const Real* d = d_out.data + r * size;
        const Real* factor = o + r * size;
        for (Index c = begin; c < end; ++c) sums[c] += static_cast<double>(term(d[c], factor[c]));
      }
    });
  } else {
    const Index inner = layout.inner();
    for (Index row = 0; row < layout.outer(); ++row) {
      double* s = sums + layout.offset(step_x, row);
      const Real* d = d_out.data + row * inner;
      const Real* factor = reads_other ? o + layout.offset(step_other, row) : d;
      const Index step_factor = reads_other ? step_other[3] : 1;
      for (Index c = 0; c < inner; ++c) {
        s[c * step_x[3]] += static_cast<double>(term(d[c], factor[c * step_factor]));
      }
    }
  }
  for (Index i = 0; i < size; ++i) {
    d_x[i] = static_cast<Real>(target.beta == 0 ? sums[i] : static_cast<double>(d_x[i]) + sums[i]);
  }
}

// A sum reads no operand for its gradient, and hands its own on to the first where the shape is the same.
template <class Operation>
OpWork work_of(Var a, Var b, Index output) {
  OpWork work{.numbers = numbers(a) + numbers(b) + output};
  const auto add_gradient_of = [&](Var x, Var other) {
    if (!x.needs_grad()) return;
    work.backward_numbers += output + numbers(x) + (Operation::linear ? 0 : numbers(other));
  };
  add_gradient_of(b, a);
  const bool handed_on = Operation::linear && numbers(a) == output;
  if (!handed_on) add_gradient_of(a, b);
  return work;
}

template <class Operation>
Var binary(Var a, Var b) {
  require<ShapeError>(a && b, "{}: an operand is absent; both are needed", Operation::name);
  const OpScope watched(a.tape(), Operation::name);
  const Broadcast layout = broadcast(Operation::name, a.shape(), b.shape());
  const Tensor out = a.tape().allocate(layout.shape);
  combine<Operation>(a.value(), b.value(), layout, out);
  const OpWork work = work_of<Operation>(a, b, out.size());
  return a.tape().record(Operation::name, out, {a, b}, work, [=](Var output) {
    const Tensor d_out = output.grad();
    if (b.needs_grad()) {
      add_gradient(b, a.value(), d_out, layout, layout.step_b, layout.step_a, !Operation::linear,
                   Operation::d_b);
    }
    if (!a.needs_grad()) return;
    if (Operation::linear && a.value().size() == d_out.size()) {
      output.hand_grad_to(a);  // a residual sum copies nothing for its first operand
    } else {
      add_gradient(a, b.value(), d_out, layout, layout.step_a, layout.step_b, !Operation::linear,
                   Operation::d_a);
    }
  });
}

}  // namespace

Var add(Var a, Var b) { return binary<Addition>(a, b); }
Var subtract(Var a, Var b) { return binary<Subtraction>(a, b); }
Var multiply(Var a, Var b) { return binary<Multiplication>(a, b); }

Var scale(Var x, Real factor) {
  require<ShapeError>(static_cast<bool>(x), "scale: the operand is absent");
  const OpScope watched(x.tape(), "scale");
  const Tensor in = x.value();
  const Tensor out = x.tape().allocate(in.shape);
  parallel_for(out.size(), grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) out.data[i] = factor * in.data[i];
  });
  const OpWork work{.numbers = 2 * out.size(), .backward_numbers = 2 * out.size()};
  return x.tape().record("scale", out, {x}, work, [=](Var output) {
    const Tensor d_out = output.grad();
    const GradientTarget target = x.grad_target();
    Real* d_x = target.tensor.data;
    parallel_for(d_out.size(), grain, [&](Index begin, Index end) {
      if (target.beta == 0) {
        for (Index i = begin; i < end; ++i) d_x[i] = factor * d_out.data[i];
      } else {
        for (Index i = begin; i < end; ++i) d_x[i] += factor * d_out.data[i];
      }
    });
  });
}

Var sum(Var x) {
  require<ShapeError>(static_cast<bool>(x), "sum: the operand is absent");
  const OpScope watched(x.tape(), "sum");
  const Tensor in = x.value();
  // Four running sums: one alone would wait for the adder at every element.
  std::array<double, 4> partial{};
  Index i = 0;
  for (; i + 4 <= in.size(); i += 4) {
    for (Index lane = 0; lane < 4; ++lane) {
      partial[static_cast<std::size_t>(lane)] += static_cast<double>(in.data[i + lane]);
    }
  }
  for (; i < in.size(); ++i) partial[0] += static_cast<double>(in.data[i]);
  const Tensor out = x.tape().allocate({});
  *out.data = static_cast<Real>((partial[0] + partial[1]) + (partial[2] + partial[3]));
  const OpWork work{.numbers = in.size(), .backward_numbers = in.size()};
  return x.tape().record("sum", out, {x}, work, [x](Var output) {
    const Real d_out = *output.grad().data;
    const GradientTarget target = x.grad_target();
    Real* d_x = target.tensor.data;
    parallel_for(target.tensor.size(), grain, [&](Index begin, Index end) {
      for (Index j = begin; j < end; ++j) d_x[j] = target.beta == 0 ? d_out : d_x[j] + d_out;
    });
  });
}

Var reshape(Var x, const Shape& shape) {
  require<ShapeError>(static_cast<bool>(x), "reshape: the operand is absent");
  return x.tape().record("reshape", x.value().reshaped(shape), {x},
                         [x](Var output) { output.hand_grad_to(x); });
}

}  // namespace tapeline::inline TAPELINE_PRECISION

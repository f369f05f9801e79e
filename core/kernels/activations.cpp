#include "core/kernels/activations.h"

#include <algorithm>

#include "core/parallel.h"

// Machines without SSE4 run the scalar version: one set less to compile.
#define HWY_DISABLED_TARGETS HWY_SSSE3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/activations.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/normal_distribution-inl.h"
#include "core/kernels/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

// d_x = beta d_x + d_y derivative, at one place.
template <class Lanes>
HWY_INLINE void put_gradient(Lanes lanes, RealVector d_y, RealVector derivative, Real beta, Real* d_x) {
  lanes.store(beta == Real{0} ? hn::Mul(d_y, derivative) : hn::MulAdd(d_y, derivative, lanes.load(d_x)), d_x);
}

void gelu_range(const Real* x, Index count, Real* y) {
  for_each_vector(count, [&](auto lanes, Index i) HWY_ATTR {
    const auto v = lanes.load(x + i);
    lanes.store(hn::Mul(v, normal_distribution(v).below), y + i);
  });
}

void gelu_gradient_range(const Real* x, const Real* d_y, Index count, Real beta, Real* d_x) {
  constexpr double density_at_zero = 0.39894228040143267794;  // 1 / sqrt(2 pi)
  for_each_vector(count, [&](auto lanes, Index i) HWY_ATTR {
    const auto v = lanes.load(x + i);
    const auto normal = normal_distribution(v);
    const auto density = hn::Mul(normal.bell, every(density_at_zero));
    put_gradient(lanes, lanes.load(d_y + i), hn::MulAdd(v, density, normal.below), beta, d_x + i);
  });
}

constexpr double twice_root = 1.59576912160573071176;  // 2 sqrt(2 / pi)
constexpr double cubic = 0.044715;

HWY_INLINE RealVector exponential(RealVector v) { return hn::Exp(RealTag(), v); }
HWY_INLINE RealVector sigmoid(RealVector v) {
  return logistic(v, [](RealVector w) HWY_ATTR { return exponential(w); });
}

void gelu_tanh_range(const Real* x, Index count, Real* y) {
  for_each_vector(count, [&](auto lanes, Index i) HWY_ATTR {
    const auto v = lanes.load(x + i);
    const auto inner = hn::MulAdd(hn::Mul(v, v), every(twice_root * cubic), every(twice_root));
    lanes.store(hn::Mul(v, sigmoid(hn::Mul(v, inner))), y + i);
  });
}

void gelu_tanh_gradient_range(const Real* x, const Real* d_y, Index count, Real beta, Real* d_x) {
  const auto limit = every(20.0);  // further out the derivative is 0 or 1, and x^2 must not overflow
  for_each_vector(count, [&](auto lanes, Index i) HWY_ATTR {
    const auto given = lanes.load(x + i);
    // By comparison, since Min and Max would turn a NaN into the limit.
    const auto v = hn::IfThenElse(hn::Gt(hn::Abs(given), limit), hn::CopySign(limit, given), given);
    const auto square = hn::Mul(v, v);
    const auto inner = hn::MulAdd(square, every(twice_root * cubic), every(twice_root));
    const auto slope = hn::MulAdd(square, every(3 * twice_root * cubic), every(twice_root));
    const auto s = sigmoid(hn::Mul(v, inner));
    const auto bend = hn::Mul(hn::Mul(s, hn::Sub(every(1.0), s)), hn::Mul(v, slope));
    put_gradient(lanes, lanes.load(d_y + i), hn::Add(s, bend), beta, d_x + i);
  });
}

void swiglu_rows(const Real* x, Index begin, Index end, Index width, Real* y) {
  for (Index row = begin; row < end; ++row) {
    const Real* gate = x + 2 * row * width;
    for_each_vector(width, [&](auto lanes, Index j) HWY_ATTR {
      const auto b = lanes.load(gate + j);
      lanes.store(hn::Mul(lanes.load(gate + width + j), hn::Mul(b, sigmoid(b))), y + row * width + j);
    });
  }
}

void swiglu_gradient_rows(const Real* x, const Real* d_y, Index begin, Index end, Index width, Real beta,
                          Real* d_x) {
  for (Index row = begin; row < end; ++row) {
    const Real* gate = x + 2 * row * width;
    Real* d_gate = d_x + 2 * row * width;
    for_each_vector(width, [&](auto lanes, Index j) HWY_ATTR {
      const auto b = lanes.load(gate + j);
      const auto a = lanes.load(gate + width + j);
      const auto dy = lanes.load(d_y + row * width + j);
      const auto s = sigmoid(b);
      const auto silu = hn::Mul(b, s);
      // d silu / d b = s + b s (1 - s)
      const auto slope = hn::MulAdd(silu, hn::Sub(every(1.0), s), s);
      put_gradient(lanes, dy, hn::Mul(a, slope), beta, d_gate + j);
      put_gradient(lanes, dy, silu, beta, d_gate + width + j);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tapeline::inline TAPELINE_PRECISION {

HWY_EXPORT(gelu_range);
HWY_EXPORT(gelu_gradient_range);
HWY_EXPORT(gelu_tanh_range);
HWY_EXPORT(gelu_tanh_gradient_range);
HWY_EXPORT(swiglu_rows);
HWY_EXPORT(swiglu_gradient_rows);

namespace {
constexpr Index numbers_a_share = 1 << 12;
}

void gelu_forward(const Real* x, Index count, Real* y) {
  parallel_for(count, numbers_a_share, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(gelu_range)(x + begin, end - begin, y + begin);
  });
}

void gelu_backward(const Real* x, const Real* d_y, Index count, Real beta, Real* d_x) {
  parallel_for(count, numbers_a_share, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(gelu_gradient_range)(x + begin, d_y + begin, end - begin, beta, d_x + begin);
  });
}

void gelu_tanh_forward(const Real* x, Index count, Real* y) {
  parallel_for(count, numbers_a_share, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(gelu_tanh_range)(x + begin, end - begin, y + begin);
  });
}

void gelu_tanh_backward(const Real* x, const Real* d_y, Index count, Real beta, Real* d_x) {
  parallel_for(count, numbers_a_share, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(gelu_tanh_gradient_range)(x + begin, d_y + begin, end - begin, beta, d_x + begin);
  });
}

void swiglu_forward(const Real* x, Index rows, Index width, Real* y) {
  parallel_for(rows, numbers_a_share / std::max<Index>(1, width), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(swiglu_rows)(x, begin, end, width, y);
  });
}

void swiglu_backward(const Real* x, const Real* d_y, Index rows, Index width, Real beta, Real* d_x) {
  parallel_for(rows, numbers_a_share / std::max<Index>(1, width), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(swiglu_gradient_rows)(x, d_y, begin, end, width, beta, d_x);
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif

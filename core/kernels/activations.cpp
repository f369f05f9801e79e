#include "core/kernels/activations.h"

#include <algorithm>

#include "core/kernels/instruction_sets.h"
#include "core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/activations.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/exponential-inl.h"
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

// A function of one number, and its derivative there.
struct ValueAndSlope {
  RealVector value, slope;
};

// Both forms of gelu: value alone, and with its derivative, which shares most of the work.
struct Gelu {
  static HWY_INLINE RealVector value(RealVector v) { return hn::Mul(v, normal_distribution(v).below); }
  static HWY_INLINE ValueAndSlope both(RealVector v) {
    constexpr double density_at_zero = 0.39894228040143267794;  // 1 / sqrt(2 pi)
    const auto normal = normal_distribution(v);
    const auto density = hn::Mul(normal.bell, every(density_at_zero));
    return {hn::Mul(v, normal.below), hn::MulAdd(v, density, normal.below)};
  }
};

// 1 / (1 + exp(-x)), 0 where exp(-x) is beyond the range.
HWY_INLINE RealVector sigmoid(RealVector x) {
  const auto limit = every(sizeof(Real) == 4 ? 88.0 : 709.0);
  const auto minus_x = hn::Neg(x), one = every(1.0);
  const auto inside = hn::Div(one, hn::Add(one, exponential(RealTag(), hn::Min(minus_x, limit))));
  return hn::IfThenElseZero(hn::Le(minus_x, limit), inside);
}

struct GeluTanh {
  static constexpr double twice_root = 1.59576912160573071176;  // 2 sqrt(2 / pi)
  static constexpr double cubic = 0.044715;

  static HWY_INLINE RealVector value(RealVector v) {
    const auto inner = hn::MulAdd(hn::Mul(v, v), every(twice_root * cubic), every(twice_root));
    return hn::Mul(v, sigmoid(hn::Mul(v, inner)));
  }
  static HWY_INLINE ValueAndSlope both(RealVector given) {
    const auto limit = every(20.0);  // further out the derivative is 0 or 1, and x^2 must not overflow
    // By comparison, since Min and Max would turn a NaN into the limit.
    const auto v = hn::IfThenElse(hn::Gt(hn::Abs(given), limit), hn::CopySign(limit, given), given);
    const auto square = hn::Mul(v, v);
    const auto inner = hn::MulAdd(square, every(twice_root * cubic), every(twice_root));
    const auto slope = hn::MulAdd(square, every(3 * twice_root * cubic), every(twice_root));
    const auto s = sigmoid(hn::Mul(v, inner));
    const auto bend = hn::Mul(hn::Mul(s, hn::Sub(every(1.0), s)), hn::Mul(v, slope));
    return {hn::Mul(given, s), hn::Add(s, bend)};
  }
};

template <class Form>
void gelu_loop(const Real* x, Index count, Real* y) {
  for_each_vector(count,
                  [&](auto lanes, Index i) HWY_ATTR { lanes.store(Form::value(lanes.load(x + i)), y + i); });
}

template <class Form>
void gelu_gradient_loop(const Real* x, const Real* d_y, Index count, Real beta, Real* d_x) {
  for_each_vector(count, [&](auto lanes, Index i) HWY_ATTR {
    put_gradient(lanes, lanes.load(d_y + i), Form::both(lanes.load(x + i)).slope, beta, d_x + i);
  });
}

template <class Form>
void biased_gelu_loop(const Real* z, const Real* bias, Index rows, Index width, Real* y, Real* slopes) {
  for (Index row = 0; row < rows; ++row) {
    const Index begin = row * width;
    for_each_vector(width, [&](auto lanes, Index j) HWY_ATTR {
      auto v = lanes.load(z + begin + j);
      if (bias != nullptr) v = hn::Add(v, lanes.load(bias + j));
      if (slopes == nullptr) {
        lanes.store(Form::value(v), y + begin + j);
      } else {
        const auto [value, slope] = Form::both(v);
        if (y != nullptr) lanes.store(value, y + begin + j);
        lanes.store(slope, slopes + begin + j);
      }
    });
  }
}

void gelu_range(const Real* x, Index count, Real* y) { gelu_loop<Gelu>(x, count, y); }
void gelu_gradient_range(const Real* x, const Real* d_y, Index count, Real beta, Real* d_x) {
  gelu_gradient_loop<Gelu>(x, d_y, count, beta, d_x);
}
void biased_gelu_rows(const Real* z, const Real* bias, Index rows, Index width, Real* y, Real* slopes) {
  biased_gelu_loop<Gelu>(z, bias, rows, width, y, slopes);
}
void gelu_tanh_range(const Real* x, Index count, Real* y) { gelu_loop<GeluTanh>(x, count, y); }
void gelu_tanh_gradient_range(const Real* x, const Real* d_y, Index count, Real beta, Real* d_x) {
  gelu_gradient_loop<GeluTanh>(x, d_y, count, beta, d_x);
}
void biased_gelu_tanh_rows(const Real* z, const Real* bias, Index rows, Index width, Real* y, Real* slopes) {
  biased_gelu_loop<GeluTanh>(z, bias, rows, width, y, slopes);
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
HWY_EXPORT(biased_gelu_rows);
HWY_EXPORT(biased_gelu_tanh_rows);
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

namespace {

void for_rows(Index rows, Index width, const auto& share) {
  parallel_for(rows, numbers_a_share / std::max<Index>(1, width), share);
}

Real* at_row(Real* matrix, Index row, Index width) {
  return matrix == nullptr ? nullptr : matrix + row * width;
}

}  // namespace

void biased_gelu(const Real* z, const Real* bias, Index rows, Index width, Real* y, Real* slopes) {
  for_rows(rows, width, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(biased_gelu_rows)
    (z + begin * width, bias, end - begin, width, at_row(y, begin, width), at_row(slopes, begin, width));
  });
}

void biased_gelu_tanh(const Real* z, const Real* bias, Index rows, Index width, Real* y, Real* slopes) {
  for_rows(rows, width, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(biased_gelu_tanh_rows)
    (z + begin * width, bias, end - begin, width, at_row(y, begin, width), at_row(slopes, begin, width));
  });
}

void swiglu_forward(const Real* x, Index rows, Index width, Real* y) {
  for_rows(rows, width, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(swiglu_rows)(x, begin, end, width, y);
  });
}

void swiglu_backward(const Real* x, const Real* d_y, Index rows, Index width, Real beta, Real* d_x) {
  for_rows(rows, width, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(swiglu_gradient_rows)(x, d_y, begin, end, width, beta, d_x);
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif

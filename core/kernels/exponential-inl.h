// exp for vectors. Included once for every instruction set.
#if defined(TAPELINE_EXPONENTIAL) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_EXPONENTIAL
#undef TAPELINE_EXPONENTIAL
#else
#define TAPELINE_EXPONENTIAL
#endif

#include <hwy/highway.h>
// Needs highway.h before it.
#include <hwy/contrib/math/math-inl.h>

#include "core/real.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// exp(x) for x up to 88: what a softmax, a sigmoid and a bell curve ask for. NaN stays NaN, and in single
/// precision what is below -87.33, -infinity too, gives exactly 0.
///
/// Half the instructions of Highway's, which serves every x; a softmax over many narrow heads is made of
/// little else. exp(x) = 2^n exp(r) with n = round(x / ln 2) and |r| <= ln(2) / 2; exp(r) = 1 + r + r^2 P(r)
/// with the P of degree 4 that has the smallest largest relative error, 3e-9.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> exponential(D d, hwy::HWY_NAMESPACE::Vec<D> x) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (sizeof(Real) == 8) {
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
  } else {
    // A sum with 1.5 * 2^23 is rounded to a whole number, which then stands in its lowest bits; with 127
    // added it is the exponent field of 2^n.
    const auto whole = hn::Set(d, 0x1.8p23f + 127);
    const auto shifted = hn::MulAdd(x, hn::Set(d, 0x1.715476p0f), whole);
    const hn::RebindToSigned<D> bits;
    const auto power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
    const auto n = hn::Sub(shifted, whole);
    // ln 2 in two parts, the first so short that n times it is exact.
    auto r = hn::NegMulAdd(n, hn::Set(d, 0x1.62e4p-1f), x);
    r = hn::NegMulAdd(n, hn::Set(d, 0x1.7f7d1cp-20f), r);
    auto series = hn::MulAdd(hn::Set(d, 0.0013814598f), r, hn::Set(d, 0.008368717f));
    series = hn::MulAdd(series, r, hn::Set(d, 0.04166839f));
    series = hn::MulAdd(series, r, hn::Set(d, 0.16666521f));
    series = hn::MulAdd(series, r, hn::Set(d, 0.49999994f));
    series = hn::MulAdd(series, r, hn::Set(d, 1.0f));
    series = hn::MulAdd(series, r, hn::Set(d, 1.0f));
    // By comparison and not by Max, which would turn a NaN into the limit.
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.33f)), hn::Mul(series, power));
  }
}

/// exp(x) as exponential() has it, but for small values not to the last digit: the weights of a softmax.
/// x log2(e) is rounded, an error of up to 0.7 |x| units in the last place, and the power of two takes three
/// quarters of the instructions: 2^y = 2^n 2^r with n = round(y) and |r| <= 1/2, which is exact; 2^r = 1 + r
/// P(r) with the P of degree 4 that has the smallest largest relative error, 9e-8.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> softmax_exponential(D d, hwy::HWY_NAMESPACE::Vec<D> x) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (sizeof(Real) == 8) {
    return exponential(d, x);
  } else {
    const auto y = hn::Mul(x, hn::Set(d, 0x1.715476p0f));
    const auto whole = hn::Set(d, 0x1.8p23f + 127);
    const auto shifted = hn::Add(y, whole);
    const hn::RebindToSigned<D> bits;
    const auto power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
    const auto r = hn::Sub(y, hn::Sub(shifted, whole));
    auto series = hn::MulAdd(hn::Set(d, 0.0013269534f), r, hn::Set(d, 0.009671292f));
    series = hn::MulAdd(series, r, hn::Set(d, 0.05550711f));
    series = hn::MulAdd(series, r, hn::Set(d, 0.24022247f));
    series = hn::MulAdd(series, r, hn::Set(d, 0.693147f));
    series = hn::MulAdd(series, r, hn::Set(d, 1.0f));
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.33f)), hn::Mul(series, power));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

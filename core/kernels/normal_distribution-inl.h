// The standard normal distribution function for vectors.
#if defined(TAPELINE_CORE_KERNELS_NORMAL_DISTRIBUTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_CORE_KERNELS_NORMAL_DISTRIBUTION_INL_H_
#undef TAPELINE_CORE_KERNELS_NORMAL_DISTRIBUTION_INL_H_
#else
#define TAPELINE_CORE_KERNELS_NORMAL_DISTRIBUTION_INL_H_
#endif

#include "core/kernels/exponential-inl.h"
#include "core/kernels/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

// Phi(x) and exp(-x^2 / 2).
struct NormalDistribution {
  RealVector below, bell;
};

// The tail beyond u >= 0 is exp(-u^2/2) M(u), M a smooth function that falls as 1/u. With K = 4.5 and
// y = (u - K) / (u + K), which maps [0, inf) to [-1, 1), the product (u + K) M(u) is a polynomial in y: the
// Chebyshev series of erfc(u/sqrt(2)) exp(u^2/2) (u + K) / 2, taken at 50 digits, cut where the terms fall
// below 2e-8 (single precision) or 3e-17 (double) and written in powers of y. So the tail has a small
// relative error everywhere, where 1 - erf would have none of its digits right.
HWY_INLINE NormalDistribution normal_distribution(RealVector x) {
  static constexpr double single[] = {0.763230533443,    -0.640257854805,  0.446452191112,
                                      -0.253139858978,   0.111386464626,   -0.0338826295216,
                                      0.00420667617364,  0.00177640007764, -0.00088361694829,
                                      -2.49089316349e-5, 7.88959909281e-5};
  static constexpr double full[] = {
      0.7632305289702031513,      -0.6402577602526170063,   0.4464525170556732686,
      -0.2531417999509776107,     0.1113825965704322272,    -0.03387132617683551985,
      0.004223613376799493263,    0.001748830562704142572,  -0.0009177464773392232986,
      6.38119722627660822e-6,     0.0001120426071921435624, -0.00001593332854091625485,
      -0.00001423571236638513907, 3.191014860803642312e-6,  2.142675980508380154e-6,
      -5.019476277896023945e-7,   -3.792607199546655492e-7, 6.404330177830260915e-8,
      7.060212865222912072e-8,    -4.76120266980759348e-9,  -1.125129272470799653e-8,
      -2.976389833802879039e-10,  1.044025203681999881e-9,  9.806383651580134114e-11};
  constexpr double center = 4.5;
  const RealTag d;
  const auto one = every(1.0);
  const auto u = hn::Min(hn::Abs(x), every(40.0));  // further out everything is 0 or 1
  // Rounding u^2 would cost the tail u^2/2 units in the last place; where multiply and add are one operation,
  // its error is known.
  const auto square = hn::Mul(u, u);
  const auto lost = hn::MulSub(u, u, square);
  const auto half = every(0.5);
  const auto rough = exponential(d, hn::Neg(hn::Mul(half, square)));
  const auto bell = hn::NegMulAdd(rough, hn::Mul(half, lost), rough);
  const auto q = hn::Div(one, hn::Add(u, every(center)));
  const auto y = hn::NegMulAdd(every(2 * center), q, one);
  RealVector series = every(0.0);
  if constexpr (sizeof(Real) == 4) {
    for (int i = 10; i >= 0; --i) series = hn::MulAdd(series, y, every(single[i]));
  } else {
    for (int i = 23; i >= 0; --i) series = hn::MulAdd(series, y, every(full[i]));
  }
  const auto tail = hn::Mul(hn::Mul(series, q), bell);
  const auto below = hn::IfThenElse(hn::Lt(x, every(0.0)), tail, hn::Sub(one, tail));
  return {below, bell};
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

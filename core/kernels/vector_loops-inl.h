// Loops over whole vectors with a masked rest, for the sources that Highway compiles once for each
// instruction set. The guard flips with each of those compilations, where #pragma once would leave all but
// the first bare.
#if defined(TAPELINE_CORE_KERNELS_VECTOR_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_CORE_KERNELS_VECTOR_LOOPS_INL_H_
#undef TAPELINE_CORE_KERNELS_VECTOR_LOOPS_INL_H_
#else
#define TAPELINE_CORE_KERNELS_VECTOR_LOOPS_INL_H_
#endif

#include <cstring>

#include "core/real.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using RealTag = hn::ScalableTag<Real>;
using RealVector = hn::Vec<RealTag>;

HWY_INLINE RealVector every(double value) { return hn::Set(RealTag(), static_cast<Real>(value)); }

// Access to all lanes.
struct WholeVector {
  HWY_INLINE RealVector load(const Real* from) const { return hn::LoadU(RealTag(), from); }
  HWY_INLINE void store(RealVector value, Real* to) const { hn::StoreU(value, RealTag(), to); }
  // Lanes that do not exist become zero.
  HWY_INLINE RealVector keep(RealVector value) const { return value; }
};

// Access to the first `count` lanes; the others read as zero.
struct PartOfVector {
  Index count;
  HWY_INLINE hn::Mask<RealTag> mask() const { return hn::FirstN(RealTag(), static_cast<size_t>(count)); }
#if HWY_MEM_OPS_MIGHT_FAULT && HWY_TARGET != HWY_AVX2
  // Masked access is access to the whole vector there: it asks for alignment and reads past the end. (AVX2
  // falls under it for its narrow lanes only.)
  HWY_INLINE RealVector load(const Real* from) const {
    HWY_ALIGN Real numbers[hn::MaxLanes(RealTag())] = {};
    for (Index i = 0; i < count; ++i) numbers[i] = from[i];
    return hn::Load(RealTag(), numbers);
  }
  HWY_INLINE void store(RealVector value, Real* to) const {
    HWY_ALIGN Real numbers[hn::MaxLanes(RealTag())];
    hn::Store(value, RealTag(), numbers);
    for (Index i = 0; i < count; ++i) to[i] = numbers[i];
  }
#else
  HWY_INLINE RealVector load(const Real* from) const { return hn::MaskedLoad(mask(), RealTag(), from); }
  HWY_INLINE void store(RealVector value, Real* to) const { hn::BlendedStore(value, mask(), RealTag(), to); }
#endif
  HWY_INLINE RealVector keep(RealVector value) const { return hn::IfThenElseZero(mask(), value); }
};

// body(access, i) for i = 0, L, 2L, ... below count, L lanes to a vector.
template <class Body>
HWY_INLINE void for_each_vector(Index count, const Body& body) {
  const Index lanes = static_cast<Index>(hn::Lanes(RealTag()));
  Index i = 0;
  for (; i + lanes <= count; i += lanes) body(WholeVector{}, i);
  if (i < count) body(PartOfVector{count - i}, i);
}

// `value` inside [lowest, highest]. By comparison: Min and Max of some instruction sets turn a NaN into the
// other operand.
HWY_INLINE RealVector bounded(RealVector value, RealVector lowest, RealVector highest) {
  const auto raised = hn::IfThenElse(hn::Lt(value, lowest), lowest, value);
  return hn::IfThenElse(hn::Gt(raised, highest), highest, raised);
}

HWY_INLINE Real sum_of_lanes(RealVector value) { return hn::GetLane(hn::SumOfLanes(RealTag(), value)); }
HWY_INLINE Real largest_lane(RealVector value) { return hn::GetLane(hn::MaxOfLanes(RealTag(), value)); }

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

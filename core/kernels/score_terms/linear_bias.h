// -slope_h |query position - key position|: first the view, for everyone; then the kernel part, which
// core/kernels/attention.cpp includes once for every instruction set.
#ifndef TAPELINE_SCORE_TERM_LINEAR_BIAS_VIEW
#define TAPELINE_SCORE_TERM_LINEAR_BIAS_VIEW

#include "core/real.h"

namespace tapeline::inline TAPELINE_PRECISION {

struct LinearBiasView {
  const Real* slopes = nullptr;  // [H]
  double* d_slopes = nullptr;    // [workers, H], added to; null: not wanted

  /// Numbers of scratch a worker needs.
  static Index scratch(Index tile_rows, Index tile_keys) { return tile_rows + tile_keys; }
};

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif

#ifdef TAPELINE_ATTENTION_KERNEL
#if defined(TAPELINE_SCORE_TERM_LINEAR_BIAS) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_SCORE_TERM_LINEAR_BIAS
#undef TAPELINE_SCORE_TERM_LINEAR_BIAS
#else
#define TAPELINE_SCORE_TERM_LINEAR_BIAS
#endif

#include "core/kernels/attention_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// The distance of a pair is rows_[row] + keys_[key], both counted from the tile's first query row, so they
/// are small and exact wherever in the sequence the tile stands.
class LinearBiasTerm {
 public:
  static constexpr KeyOrder order = KeyOrder::left_to_right;
  static constexpr KeyOrder gradient_order = order;
  static constexpr bool adds_to_operands = false;
  static constexpr bool active = true;

  LinearBiasTerm(const LinearBiasView& view, const AttentionProblem& problem, Index worker, Real* scratch)
      : view_(view),
        positions_(problem.positions),
        d_slopes_(view.d_slopes == nullptr ? nullptr : view.d_slopes + worker * problem.heads),
        rows_(scratch),
        keys_(scratch + attention_tile_rows) {}

  void prepare(const ScoreTile& tile) {
    slope_ = view_.slopes[tile.head];
    const Index origin = positions_.query.at(tile.first_row);
    if (positions_.query.axis[0].empty()) {
      for (Index i = 0; i < attention_tile_rows; ++i) rows_[i] = static_cast<Real>(i);
    } else {
      for (Index i = 0; i < attention_tile_rows; ++i) {
        rows_[i] =
            i < tile.rows ? static_cast<Real>(positions_.query.at(tile.first_row + i) - origin) : Real{0};
      }
    }
    for (Index j = 0; j < tile.keys; ++j) {
      keys_[j] = static_cast<Real>(origin - positions_.key.at(tile.first_key + j));
    }
  }

  template <class V>
  HWY_INLINE V add(Index key, Index row, V score) const {
    return hn::NegMulAdd(hn::Set(Lanes(), slope_), distance(key, row), score);
  }

  void gradient(const ScoreTile& tile, const Real* d_scores) {
    if (d_slopes_ == nullptr) return;
    const Lanes d;
    auto sum = hn::Zero(d);
    for (Index row = 0; row < tile.rows; row += lane_count()) {
      for (Index j = 0; j < tile.keys; ++j) {
        sum = hn::MulAdd(hn::Load(d, d_scores + j * attention_tile_rows + row), distance(j, row), sum);
      }
    }
    d_slopes_[tile.head] -= static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }

 private:
  HWY_INLINE hn::Vec<Lanes> distance(Index key, Index row) const {
    const Lanes d;
    return hn::Abs(hn::Add(hn::Load(d, rows_ + row), hn::Set(d, keys_[key])));
  }

  LinearBiasView view_;
  const PassPositions& positions_;
  double* d_slopes_;
  Real slope_ = 0;
  Real* rows_;
  Real* keys_;
};

inline LinearBiasTerm make_term(const LinearBiasView& view, const AttentionProblem& problem, Index worker,
                                Real* scratch) {
  return {view, problem, worker, scratch};
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif
#endif

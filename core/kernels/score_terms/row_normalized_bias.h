// slopes[h, s] x + intercepts[h, s], x = numerator[distance] / denominator[row], s the number of cuts <= x:
// first the view, for everyone; then the kernel part, which core/kernels/attention.cpp includes once for
// every instruction set.
#ifndef TAPELINE_SCORE_TERM_ROW_NORMALIZED_BIAS_VIEW
#define TAPELINE_SCORE_TERM_ROW_NORMALIZED_BIAS_VIEW

#include "core/kernels/score_terms/distance_bias.h"
#include "core/real.h"

namespace tapeline::inline TAPELINE_PRECISION {

struct RowNormalizedBiasView {
  const Real* numerator = nullptr;  // [span]
  Index span = 0;
  Index first_distance = 0;
  const Real* denominator = nullptr;  // [Tq]
  const Real* cuts = nullptr;         // [segments - 1], ascending
  const Real* slopes = nullptr;       // [H, segments]
  const Real* intercepts = nullptr;   // [H, segments]
  Index segments = 0;
  // Added to; null: not wanted.
  double* d_numerator = nullptr;    // [workers, span]
  double* d_denominator = nullptr;  // [workers, Tq]
  double* d_slopes = nullptr;       // [workers, H, segments]
  double* d_intercepts = nullptr;   // [workers, H, segments]
  DistanceFault* faults = nullptr;  // [workers]; filled where positions are explicit; null: known to be none

  /// Numbers of a vector of the widest instruction set.
  static constexpr Index widest_vector = 64 / sizeof(Real);

  /// Numbers of scratch a worker needs: of the rows the inverse denominators and their sums, a tile of
  /// numerators (of which a plain pass uses one strip), a strip of their gradients, two vectors of sums a
  /// segment.
  Index scratch(Index tile_rows, Index tile_keys) const {
    return 2 * tile_rows + tile_rows * tile_keys + tile_rows + tile_keys + 2 * segments * widest_vector;
  }
};

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif

#ifdef TAPELINE_ATTENTION_KERNEL
#if defined(TAPELINE_SCORE_TERM_ROW_NORMALIZED_BIAS) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_SCORE_TERM_ROW_NORMALIZED_BIAS
#undef TAPELINE_SCORE_TERM_ROW_NORMALIZED_BIAS
#else
#define TAPELINE_SCORE_TERM_ROW_NORMALIZED_BIAS
#endif

#include "core/kernels/attention_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// The numerators of one key over the rows of a tile are a contiguous piece of a strip, as the biases of
/// DistanceBiasTerm are; with explicit positions they are gathered into a tile. The x of a tile lie between
/// the least and the largest numerator times the least and the largest inverse denominator: a pair is
/// compared with the few cuts that lie in that range, and starts in the segment below them.
class RowNormalizedBiasTerm {
 public:
  static constexpr KeyOrder order = KeyOrder::left_to_right;
  static constexpr KeyOrder gradient_order = order;
  static constexpr bool adds_to_operands = false;
  static constexpr bool active = true;

  RowNormalizedBiasTerm(const RowNormalizedBiasView& view, const AttentionProblem& problem, Index worker,
                        Real* scratch)
      : view_(view),
        positions_(problem.positions),
        contiguous_(problem.positions.query.axis[0].empty() && problem.positions.key.axis[0].empty()),
        d_numerator_(of_worker(view.d_numerator, worker, view.span)),
        d_denominator_(of_worker(view.d_denominator, worker, problem.query_rows)),
        d_slopes_(of_worker(view.d_slopes, worker, problem.heads * view.segments)),
        d_intercepts_(of_worker(view.d_intercepts, worker, problem.heads * view.segments)),
        fault_(view.faults == nullptr ? nullptr : view.faults + worker),
        inverses_(scratch),
        row_sums_(inverses_ + attention_tile_rows),
        numerators_(row_sums_ + attention_tile_rows),
        strip_gradient_(numerators_ + attention_tile_rows * attention_tile_keys),
        intercept_sums_(strip_gradient_ + attention_tile_rows + attention_tile_keys),
        slope_sums_(intercept_sums_ + view.segments * RowNormalizedBiasView::widest_vector) {}

  void prepare(const ScoreTile& tile) {
    slopes_ = view_.slopes + tile.head * view_.segments;
    intercepts_ = view_.intercepts + tile.head * view_.segments;
    if (tile.begins) prepare_rows(tile);
    Index count = strip_count(tile);
    if (contiguous_) {
      const Index first = strip_first(tile);
      for (Index t = 0; t < count; ++t) numerators_[t] = view_.numerator[inside(first + t)];
      start_ = numerators_ + tile.keys - 1;
      step_ = -1;
    } else {
      count = tile.keys * attention_tile_rows;
      for (Index j = 0; j < tile.keys; ++j) {
        for (Index i = 0; i < attention_tile_rows; ++i) {
          const Index place = gathered_place(tile, std::min(i, tile.rows - 1), j);
          numerators_[j * attention_tile_rows + i] = view_.numerator[inside(place)];
          if (i < tile.rows && place != inside(place)) report(tile, i, j, place);
        }
      }
      start_ = numerators_;
      step_ = attention_tile_rows;
    }
    find_range(count);
  }

  template <class V>
  HWY_INLINE V add(Index key, Index row, V score) const {
    const Lanes d;
    const auto x = ratio(key, row);
    auto slope = hn::Set(d, slopes_[lowest_]), intercept = hn::Set(d, intercepts_[lowest_]);
    for (Index cut = lowest_; cut < highest_; ++cut) {
      const auto past = hn::Ge(x, hn::Set(d, view_.cuts[cut]));
      slope = hn::IfThenElse(past, hn::Set(d, slopes_[cut + 1]), slope);
      intercept = hn::IfThenElse(past, hn::Set(d, intercepts_[cut + 1]), intercept);
    }
    return hn::Add(score, hn::MulAdd(slope, x, intercept));
  }

  /// With a = dS: the sums of a and of a x by segment; by distance a slope / denominator; by row
  /// -a slope x / denominator.
  void gradient(const ScoreTile& tile, const Real* d_scores) {
    if (d_numerator_ == nullptr && d_denominator_ == nullptr && d_slopes_ == nullptr &&
        d_intercepts_ == nullptr) {
      return;
    }
    const Lanes d;
    clear(tile);
    // Sums in the last segment of the range, where all pairs are when no cut lies in it.
    auto last_intercept = hn::Zero(d), last_slope = hn::Zero(d);
    for (Index j = 0; j < tile.keys; ++j) {
      const Index end = tile.mask.end_row(j);
      for (Index row = tile.mask.first_row(j) / lane_count() * lane_count(); row < end; row += lane_count()) {
        const auto d_score = hn::Load(d, d_scores + j * attention_tile_rows + row);
        const auto x = ratio(j, row);
        auto rest = d_score;  // of the pairs past all cuts looked at
        auto slope = hn::Set(d, slopes_[lowest_]);
        for (Index cut = lowest_; cut < highest_; ++cut) {
          const auto past = hn::Ge(x, hn::Set(d, view_.cuts[cut]));
          const auto here = hn::IfThenZeroElse(past, rest);
          rest = hn::IfThenElseZero(past, rest);
          slope = hn::IfThenElse(past, hn::Set(d, slopes_[cut + 1]), slope);
          const Index sums = (cut - lowest_) * RowNormalizedBiasView::widest_vector;
          hn::Store(hn::Add(hn::Load(d, intercept_sums_ + sums), here), d, intercept_sums_ + sums);
          hn::Store(hn::MulAdd(here, x, hn::Load(d, slope_sums_ + sums)), d, slope_sums_ + sums);
        }
        last_intercept = hn::Add(last_intercept, rest);
        last_slope = hn::MulAdd(rest, x, last_slope);
        const auto d_ratio = hn::Mul(d_score, slope);
        hn::Store(hn::MulAdd(d_ratio, x, hn::Load(d, row_sums_ + row)), d, row_sums_ + row);
        add_by_distance(tile, j, row, hn::Mul(d_ratio, hn::Load(d, inverses_ + row)));
      }
    }
    const Index last = (highest() - lowest_) * RowNormalizedBiasView::widest_vector;
    hn::Store(last_intercept, d, intercept_sums_ + last);
    hn::Store(last_slope, d, slope_sums_ + last);
    add_sums(tile);
  }

 private:
  static double* of_worker(double* sums, Index worker, Index count) {
    return sums == nullptr ? nullptr : sums + worker * count;
  }
  /// The nearest place in the table; what lies outside is asked for by no visible pair, or reported.
  Index inside(Index place) const { return std::clamp<Index>(place, 0, view_.span - 1); }
  /// The place in the table of the smallest distance of a tile, and how many distances it has, padding
  /// included.
  Index strip_first(const ScoreTile& tile) const {
    return positions_.query.at(tile.first_row) - positions_.key.at(tile.first_key) - (tile.keys - 1) -
           view_.first_distance;
  }
  static Index strip_count(const ScoreTile& tile) { return tile.keys - 1 + attention_tile_rows; }
  Index gathered_place(const ScoreTile& tile, Index row, Index key) const {
    return positions_.query.at(tile.first_row + row) - positions_.key.at(tile.first_key + key) -
           view_.first_distance;
  }
  void report(const ScoreTile& tile, Index row, Index key, Index place) {
    if (fault_ == nullptr || fault_->found || !tile.mask.sees(row, key)) return;
    *fault_ = {true, place + view_.first_distance};
  }
  Index highest() const { return std::max(lowest_, highest_); }

  HWY_INLINE hn::Vec<Lanes> ratio(Index key, Index row) const {
    const Lanes d;
    return hn::Mul(hn::LoadU(d, start_ + key * step_ + row), hn::Load(d, inverses_ + row));
  }

  void prepare_rows(const ScoreTile& tile) {
    const Real* const denominator = view_.denominator + tile.first_row;
    for (Index i = 0; i < attention_tile_rows; ++i)
      inverses_[i] = 1 / denominator[std::min(i, tile.rows - 1)];
    const auto [least, largest] = std::minmax_element(inverses_, inverses_ + attention_tile_rows);
    least_inverse_ = *least;
    largest_inverse_ = *largest;
  }

  /// The cuts [lowest_, highest_) in the range of x of a tile with the first `count` of numerators_.
  void find_range(Index count) {
    const Lanes d;
    auto least = hn::Set(d, numerators_[0]), largest = least;
    Index n = 0;
    for (; n + lane_count() <= count; n += lane_count()) {
      least = hn::Min(least, hn::Load(d, numerators_ + n));
      largest = hn::Max(largest, hn::Load(d, numerators_ + n));
    }
    Real low = hn::GetLane(hn::MinOfLanes(d, least)), high = hn::GetLane(hn::MaxOfLanes(d, largest));
    for (; n < count; ++n) {
      low = std::min(low, numerators_[n]);
      high = std::max(high, numerators_[n]);
    }
    // Rounding keeps the order, so no product of the tile lies outside.
    const Real least_ratio = std::min(low * least_inverse_, low * largest_inverse_);
    const Real largest_ratio = std::max(high * least_inverse_, high * largest_inverse_);
    const Real* const end = view_.cuts + view_.segments - 1;
    lowest_ = std::upper_bound(view_.cuts, end, least_ratio) - view_.cuts;
    highest_ = std::upper_bound(view_.cuts, end, largest_ratio) - view_.cuts;
  }

  void clear(const ScoreTile& tile) {
    std::fill_n(row_sums_, attention_tile_rows, Real{0});
    std::fill_n(strip_gradient_, strip_count(tile), Real{0});
    const Index sums = (highest() - lowest_ + 1) * RowNormalizedBiasView::widest_vector;
    std::fill_n(intercept_sums_, sums, Real{0});
    std::fill_n(slope_sums_, sums, Real{0});
  }

  /// Adds the numbers of key `key` and the rows from `row` on to what belongs to their distances.
  HWY_INLINE void add_by_distance(const ScoreTile& tile, Index key, Index row, hn::Vec<Lanes> numbers) {
    const Lanes d;
    if (contiguous_) {
      Real* const sums = strip_gradient_ + tile.keys - 1 - key + row;
      hn::StoreU(hn::Add(hn::LoadU(d, sums), numbers), d, sums);
      return;
    }
    if (d_numerator_ == nullptr) return;
    HWY_ALIGN Real each[RowNormalizedBiasView::widest_vector];
    hn::Store(numbers, d, each);
    for (Index i = 0; i < std::min(lane_count(), tile.rows - row); ++i) {
      d_numerator_[inside(gathered_place(tile, row + i, key))] += static_cast<double>(each[i]);
    }
  }

  /// The sums of one tile, into those of the worker.
  void add_sums(const ScoreTile& tile) {
    const Lanes d;
    for (Index segment = lowest_; segment <= highest(); ++segment) {
      const Index sums = (segment - lowest_) * RowNormalizedBiasView::widest_vector;
      const Index place = tile.head * view_.segments + segment;
      const auto total = [&](const Real* from) {
        return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Load(d, from + sums))));
      };
      if (d_intercepts_ != nullptr) d_intercepts_[place] += total(intercept_sums_);
      if (d_slopes_ != nullptr) d_slopes_[place] += total(slope_sums_);
    }
    if (d_denominator_ != nullptr) {
      for (Index i = 0; i < tile.rows; ++i) {
        d_denominator_[tile.first_row + i] -= static_cast<double>(row_sums_[i] * inverses_[i]);
      }
    }
    if (d_numerator_ == nullptr || !contiguous_) return;
    const Index first = strip_first(tile), count = strip_count(tile);
    for (Index t = std::max<Index>(0, -first); t < std::min(count, view_.span - first); ++t) {
      d_numerator_[first + t] += static_cast<double>(strip_gradient_[t]);
    }
  }

  RowNormalizedBiasView view_;
  const PassPositions& positions_;
  bool contiguous_;
  double *d_numerator_, *d_denominator_, *d_slopes_, *d_intercepts_;
  DistanceFault* fault_;
  Real* inverses_;                      // [rows]: 1 / denominator; padding repeats the last row
  Real* row_sums_;                      // [rows]: of dS slope x
  Real* numerators_;                    // a strip, or a tile [keys, rows]
  Real* strip_gradient_;                // [rows + keys]
  Real *intercept_sums_, *slope_sums_;  // [segments in range, lanes]
  const Real* slopes_ = nullptr;        // [segments], of the tile's head
  const Real* intercepts_ = nullptr;
  Real least_inverse_ = 0, largest_inverse_ = 0;
  Index lowest_ = 0, highest_ = 0;
  const Real* start_ = nullptr;
  Index step_ = 0;
};

inline RowNormalizedBiasTerm make_term(const RowNormalizedBiasView& view, const AttentionProblem& problem,
                                       Index worker, Real* scratch) {
  return {view, problem, worker, scratch};
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif
#endif

// table[h, query position - key position - first_distance]: first the view, for everyone; then the kernel
// part, which core/kernels/attention.cpp includes once for every instruction set.
#ifndef TAPELINE_SCORE_TERM_DISTANCE_BIAS_VIEW
#define TAPELINE_SCORE_TERM_DISTANCE_BIAS_VIEW

#include "core/real.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// A distance that was asked for and does not stand in the table.
struct DistanceFault {
  bool found = false;
  Index distance = 0;
};

struct DistanceBiasView {
  const Real* table = nullptr;  // [H, span]
  Index span = 0;
  Index first_distance = 0;
  double* d_table = nullptr;        // [workers, H, span], added to; null: not wanted
  DistanceFault* faults = nullptr;  // [workers]; filled where positions are explicit; null: known to be none

  /// Numbers of scratch a worker needs: a tile of biases (of which a plain pass uses one strip), a strip of
  /// their gradients.
  static Index scratch(Index tile_rows, Index tile_keys) {
    return tile_rows * tile_keys + 2 * (tile_rows + tile_keys);
  }
};

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif

#ifdef TAPELINE_ATTENTION_KERNEL
#if defined(TAPELINE_SCORE_TERM_DISTANCE_BIAS) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_SCORE_TERM_DISTANCE_BIAS
#undef TAPELINE_SCORE_TERM_DISTANCE_BIAS
#else
#define TAPELINE_SCORE_TERM_DISTANCE_BIAS
#endif

#include "core/kernels/attention_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// With positions that run on without gaps the biases of one key over the rows of a tile are a contiguous
/// piece of a strip of the table, and the next key's piece begins one number earlier; the strip is copied
/// only where it reaches over the table's ends. With explicit positions they are gathered into a tile. `add`
/// sees the same thing both times: a start and a step from key to key.
class DistanceBiasTerm {
 public:
  static constexpr KeyOrder order = KeyOrder::left_to_right;
  static constexpr KeyOrder gradient_order = order;
  static constexpr bool adds_to_operands = false;
  static constexpr bool active = true;

  DistanceBiasTerm(const DistanceBiasView& view, const AttentionProblem& problem, Index worker, Real* scratch)
      : view_(view),
        positions_(problem.positions),
        contiguous_(problem.positions.query.axis[0].empty() && problem.positions.key.axis[0].empty()),
        d_table_(view.d_table == nullptr ? nullptr : view.d_table + worker * problem.heads * view.span),
        fault_(view.faults == nullptr ? nullptr : view.faults + worker),
        biases_(scratch),
        strip_gradient_(scratch + attention_tile_rows * attention_tile_keys) {}

  void prepare(const ScoreTile& tile) {
    const Real* const table = view_.table + tile.head * view_.span;
    if (contiguous_) {
      const Index first = strip_first(tile);
      const Index count = strip_count(tile);
      const bool whole = first >= 0 && first + count <= view_.span;
      const Real* const strip = whole ? table + first : biases_;
      if (!whole) {  // what no pair asks for is 0
        const Index begin = std::clamp<Index>(-first, 0, count);
        const Index end = std::clamp<Index>(view_.span - first, begin, count);
        std::fill(biases_, biases_ + begin, Real{0});
        std::copy_n(table + (first + begin), end - begin, biases_ + begin);
        std::fill(biases_ + end, biases_ + count, Real{0});
      }
      start_ = strip + tile.keys - 1;
      step_ = -1;
      return;
    }
    for (Index j = 0; j < tile.keys; ++j) {
      Real* const biases = biases_ + j * attention_tile_rows;
      for (Index i = 0; i < attention_tile_rows; ++i) {
        const Index place = i < tile.rows ? gathered_place(tile, i, j) : -1;
        biases[i] = inside(place) ? table[place] : Real{0};
        if (i < tile.rows && !inside(place)) report(tile, i, j, place);
      }
    }
    start_ = biases_;
    step_ = attention_tile_rows;
  }

  template <class V>
  HWY_INLINE V add(Index key, Index row, V score) const {
    return hn::Add(score, hn::LoadU(Lanes(), start_ + key * step_ + row));
  }

  void gradient(const ScoreTile& tile, const Real* d_scores) {
    if (d_table_ == nullptr) return;
    double* const d_table = d_table_ + tile.head * view_.span;
    if (!contiguous_) {
      for (Index j = 0; j < tile.keys; ++j) {
        for (Index i = 0; i < tile.rows; ++i) {
          const Index place = gathered_place(tile, i, j);
          if (inside(place)) d_table[place] += static_cast<double>(d_scores[j * attention_tile_rows + i]);
        }
      }
      return;
    }
    sum_diagonals(tile, d_scores);
    const Index first = strip_first(tile);
    const Index begin = std::max<Index>(-first, 0), end = std::min(strip_count(tile), view_.span - first);
    for (Index t = begin; t < end; ++t) d_table[first + t] += static_cast<double>(strip_gradient_[t]);
  }

 private:
  /// strip_gradient_[t] = the sum of the tile's d_scores at its t-th distance. Vectors of rows a vector
  /// further, at keys a vector further, belong to the same distances: such a diagonal is summed in a
  /// register.
  void sum_diagonals(const ScoreTile& tile, const Real* d_scores) {
    const Lanes d;
    const Index lanes = lane_count();
    const Index row_vectors = (tile.rows + lanes - 1) / lanes;
    std::fill_n(strip_gradient_, strip_count(tile), Real{0});
    for (Index offset = 0; offset < std::min(lanes, tile.keys); ++offset) {
      const Index key_steps = (tile.keys - offset + lanes - 1) / lanes;
      for (Index diagonal = 1 - key_steps; diagonal < row_vectors; ++diagonal) {
        const Index begin = std::max<Index>(diagonal, 0);
        const Index end = std::min(row_vectors, key_steps + diagonal);
        auto sum = hn::Zero(d);
        for (Index row = begin; row < end; ++row) {
          const Index key = offset + (row - diagonal) * lanes;
          sum = hn::Add(sum, hn::Load(d, d_scores + key * attention_tile_rows + row * lanes));
        }
        Real* const to = strip_gradient_ + tile.keys - 1 - offset + diagonal * lanes;
        hn::StoreU(hn::Add(hn::LoadU(d, to), sum), d, to);
      }
    }
  }

  bool inside(Index place) const { return place >= 0 && place < view_.span; }
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

  DistanceBiasView view_;
  const PassPositions& positions_;
  bool contiguous_;
  double* d_table_;
  DistanceFault* fault_;
  Real* biases_;
  Real* strip_gradient_;
  const Real* start_ = nullptr;
  Index step_ = 0;
};

inline DistanceBiasTerm make_term(const DistanceBiasView& view, const AttentionProblem& problem, Index worker,
                                  Real* scratch) {
  return {view, problem, worker, scratch};
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif
#endif

// Positions counted by content (CoPE): first the view, for everyone; then the kernel part, which
// core/kernels/attention.cpp includes once for every instruction set.
#ifndef TAPELINE_SCORE_TERM_CONTEXTUAL_POSITIONS_VIEW
#define TAPELINE_SCORE_TERM_CONTEXTUAL_POSITIONS_VIEW

#include "core/real.h"

namespace tapeline::inline TAPELINE_PRECISION {

struct ContextualPositionsView {
  const Real* table = nullptr;  // e [N, D]
  Index rows = 0, width = 0;    // N, D
  bool scaled = true;           // the product with the table is multiplied by the score scale
  bool differentiates = false;  // the backward pass
  // [2, B, H, Tq]: where the count of a row ends, and the key at which it reached the last row of the table
  // (-1: it did not). Written forward, read backward; null: not wanted.
  Real* kept = nullptr;
  double* d_table = nullptr;  // [workers, N, D], added to; null: not wanted

  static constexpr Index kept_by_row = 2;

  /// Numbers of scratch a worker needs.
  Index scratch(Index tile_rows, Index tile_keys) const {
    const Index padded = (width + 15) / 16 * 16, forward = tile_rows * (rows + 2);
    if (!differentiates) return forward;
    return forward + tile_rows * (rows + 4 + 3 * tile_keys + padded) + 2 * rows * padded;
  }
};

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif

#ifdef TAPELINE_ATTENTION_KERNEL
#if defined(TAPELINE_SCORE_TERM_CONTEXTUAL_POSITIONS) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_SCORE_TERM_CONTEXTUAL_POSITIONS
#undef TAPELINE_SCORE_TERM_CONTEXTUAL_POSITIONS
#else
#define TAPELINE_SCORE_TERM_CONTEXTUAL_POSITIONS
#endif

#include "core/kernels/score_terms/contextual_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// With s the scaled product of query i and key j, L = N - 1 and z[n] = q_i . e[n] (in units of s):
///   gate_j = sigmoid(s_j) where i sees j, else 0,   p_j = min(gate_j + gate_j+1 + ... + gate_i, L),
///   S_j = s_j + (1 - w) z[f] + w z[f + 1],   f = floor p_j, w = p_j - f.
/// Forward, keys run right to left and a count a row is carried on. It stops where it reaches L: no key
/// further left needs its gate. Backward, keys run left to right: dp_j = (z[f + 1] - z[f]) dS_j, 0 where the
/// count had stopped, and a gate has a part in every p to its left, so
///   dgate_t = sum of dp_j over j <= t,   ds_t = dS_t + gate_t (1 - gate_t) dgate_t.
/// There the position of the first key is what the forward count ended with, and each gate is subtracted.
/// Counts are at most N, so little is lost however long the sequence.
///
/// Lanes are query rows.
class ContextualPositionsTerm {
 public:
  static constexpr KeyOrder order = KeyOrder::right_to_left;
  static constexpr KeyOrder gradient_order = KeyOrder::left_to_right;
  static constexpr bool adds_to_operands = true;
  static constexpr bool active = true;

  ContextualPositionsTerm(const ContextualPositionsView& view, const AttentionProblem& problem, Index worker,
                          Real* scratch)
      : view_(view),
        problem_(problem),
        padded_(Carver::rounded(view.width)),
        vectors_((view.width + lane_count() - 1) / lane_count()) {
    Carver carver(scratch);
    products_ = carver.take(attention_tile_rows * view.rows);
    counts_ = carver.take(attention_tile_rows);
    limits_ = carver.take(attention_tile_rows);
    if (!view.differentiates) return;
    d_products_ = carver.take(attention_tile_rows * view.rows);
    sums_ = carver.take(GradientBetween::parts * attention_tile_rows);
    d_positions_ = carver.take(attention_tile_rows);
    gates_ = carver.take(attention_tile_rows * attention_tile_keys);
    positions_ = carver.take(attention_tile_rows * attention_tile_keys);
    slopes_ = carver.take(attention_tile_rows * attention_tile_keys);
    queries_ = carver.take(attention_tile_rows * padded_);
    table_rows_ =
        whole_vectors({view.table, view.width}, view.rows, view.width, carver.take(view.rows * padded_));
    d_table_rows_ = carver.take(view.rows * padded_);
    if (view.d_table != nullptr) d_table_ = view.d_table + worker * view.rows * view.width;
  }

  /// Adds to the scores in place; add() has nothing left to do.
  void prepare(const ScoreTile& tile) {
    if (tile.begins) start(tile);
    const bool whole = tile.mask.whole();
    for (Index row = 0; row < tile.rows; row += lane_count()) {
      if (view_.differentiates) {
        whole ? count_down<true>(tile, row) : count_down<false>(tile, row);
      } else {
        whole ? count_up<true>(tile, row) : count_up<false>(tile, row);
      }
    }
    if (view_.differentiates || view_.kept == nullptr) return;
    std::copy_n(counts_, rows_, kept_counts());
    std::copy_n(limits_, rows_, kept_limits());
  }

  template <class V>
  HWY_INLINE V add(Index /*key*/, Index /*row*/, V score) const {
    return score;
  }

  /// Turns d_scores from those of S into those of s.
  void gradient(const ScoreTile& tile, Real* d_scores, const TileGradients&) {
    const Lanes d;
    for (Index row = 0; row < tile.rows; row += lane_count()) {
      const Index counted = first_counted(tile, row), end = end_seen_key(tile, row);
      auto between = GradientBetween::load(sums_ + row);
      auto d_position = hn::Load(d, d_positions_ + row);
      for (Index j = first_seen_key(tile, row); j < counted; ++j) {
        between.above = hn::Add(between.above, hn::Load(d, d_scores + j * attention_tile_rows + row));
      }
      for (Index j = counted; j < end; ++j) {
        const Index place = j * attention_tile_rows + row;
        const auto d_score = hn::Load(d, d_scores + place), gate = hn::Load(d, gates_ + place);
        between.add(hn::Load(d, positions_ + place), last_, d_score, d_products_ + row);
        d_position = hn::MulAdd(hn::Load(d, slopes_ + place), d_score, d_position);
        const auto d_gate = hn::Mul(d_position, hn::NegMulAdd(gate, gate, gate));
        hn::Store(hn::Add(d_score, d_gate), d, d_scores + place);
      }
      between.store(sums_ + row);
      hn::Store(d_position, d, d_positions_ + row);
    }
  }

  /// dz is complete: dq_i += dz_i e (here without the row's factor, which is applied later), de += dz^T q.
  void finish_gradient(const TileGradients& shared) {
    for (Index row = 0; row < rows_; row += lane_count()) {
      GradientBetween::load(sums_ + row).finish(d_products_ + row);
    }
    if (d_table_ != nullptr) {
      const Rows queries = whole_vectors(query_rows_, rows_, view_.width, queries_);
      multiply<Layout::depth_adjacent, Into::overwrite>(d_products_, attention_tile_rows, used_, rows_,
                                                        queries.first, queries.stride, d_table_rows_, padded_,
                                                        vectors_);
      const Real factor = view_.scaled ? problem_.scale : Real{1};
      for (Index n = 0; n < used_; ++n) {
        for (Index c = 0; c < view_.width; ++c) {
          d_table_[n * view_.width + c] += static_cast<double>(factor * d_table_rows_[n * padded_ + c]);
        }
      }
    }
    if (shared.query == nullptr) return;
    if (!view_.scaled) scale_products(d_products_, used_, 1 / problem_.scale);
    multiply<Layout::rows_adjacent, Into::add>(d_products_, attention_tile_rows, rows_, used_,
                                               table_rows_.first, table_rows_.stride, shared.query,
                                               shared.query_stride, vectors_);
  }

 private:
  using Vector = hn::Vec<Lanes>;

  /// A query tile begins.
  void start(const ScoreTile& tile) {
    rows_ = tile.rows;
    kept_at_ = (tile.batch * problem_.heads + tile.head) * problem_.query_rows + tile.first_row;
    query_rows_ = {tile.query_rows, tile.query_row_stride};
    // No row counts further than the keys it sees, and more of the table than that is not looked at.
    used_ = std::min(view_.rows, problem_.keys_seen(tile.first_row + rows_ - 1) + 1);
    last_ = static_cast<Real>(used_ - 1);
    multiply<Layout::depth_adjacent, Into::overwrite>(
        view_.table, view_.width, used_, view_.width, tile.queries, attention_tile_rows, products_,
        attention_tile_rows, (rows_ + lane_count() - 1) / lane_count());
    if (!view_.scaled) scale_products(products_, used_, 1 / problem_.scale);
    // Padding rows have stopped before they begin.
    std::fill_n(counts_, attention_tile_rows, last_);
    std::fill_n(limits_, attention_tile_rows, std::numeric_limits<Real>::infinity());
    if (!view_.differentiates) {
      std::fill_n(counts_, rows_, Real{0});
      std::fill_n(limits_, rows_, Real{-1});
      return;
    }
    std::copy_n(kept_counts(), rows_, counts_);
    std::copy_n(kept_limits(), rows_, limits_);
    std::fill_n(d_positions_, attention_tile_rows, Real{0});
    for (Index row = 0; row < attention_tile_rows; row += lane_count()) {
      GradientBetween::start(hn::Load(Lanes(), counts_ + row), last_).store(sums_ + row);
    }
    std::fill_n(d_products_, used_ * attention_tile_rows, Real{0});
  }

  template <bool whole>
  void count_up(const ScoreTile& tile, Index row) {
    const Lanes d;
    const Index begin = first_seen_key(tile, row);
    const auto last = hn::Set(d, last_);
    auto count = hn::Load(d, counts_ + row), limit = hn::Load(d, limits_ + row);
    Index j = end_seen_key(tile, row);
    for (auto counting = hn::Lt(count, last); j > begin && !hn::AllFalse(d, counting);) {
      --j;
      Real* const place = tile.scores + j * attention_tile_rows + row;
      const auto score = hn::Load(d, place);
      const auto gate = where_seen<whole>(tile, j, row, gate_of(score));
      count = hn::Add(count, hn::IfThenElseZero(counting, gate));
      const auto goes_on = hn::Lt(count, last);
      limit = hn::IfThenElse(hn::AndNot(goes_on, counting), key_number(tile, j), limit);
      counting = goes_on;
      const ProductBetween between(products_ + row, hn::IfThenElse(counting, count, last), last_);
      hn::Store(hn::Add(score, between.value), d, place);
    }
    add_last(tile, row, begin, j);
    hn::Store(count, d, counts_ + row);
    hn::Store(limit, d, limits_ + row);
  }

  template <bool whole>
  void count_down(const ScoreTile& tile, Index row) {
    const Lanes d;
    const Index end = end_seen_key(tile, row), counted = first_counted(tile, row);
    const auto last = hn::Set(d, last_), limit = hn::Load(d, limits_ + row);
    auto count = hn::Load(d, counts_ + row);
    add_last(tile, row, first_seen_key(tile, row), counted);
    for (Index j = counted; j < end; ++j) {
      const Index place = j * attention_tile_rows + row;
      const auto score = hn::Load(d, tile.scores + place);
      const auto gate = where_seen<whole>(tile, j, row, gate_of(score));
      const auto key = key_number(tile, j);
      const auto counting = hn::And(hn::Gt(key, limit), hn::Lt(count, last));
      // Rounding may leave a little less than nothing of the count.
      const auto position = hn::IfThenElse(counting, hn::Max(count, hn::Zero(d)), last);
      const ProductBetween between(products_ + row, position, last_);
      hn::Store(hn::Add(score, between.value), d, tile.scores + place);
      hn::Store(hn::IfThenElseZero(counting, between.slope), d, slopes_ + place);
      hn::Store(position, d, positions_ + place);
      hn::Store(gate, d, gates_ + place);
      // The key at which the limit was reached is the first whose gate is in the count.
      count = hn::Sub(count, hn::IfThenElseZero(hn::Ge(key, limit), gate));
    }
    hn::Store(count, d, counts_ + row);
  }

  /// Keys [begin, end) of the tile lie where the count of every row of the vector has stopped.
  void add_last(const ScoreTile& tile, Index row, Index begin, Index end) const {
    const Lanes d;
    const auto product = hn::Load(d, products_ + (used_ - 1) * attention_tile_rows + row);
    for (Index j = begin; j < end; ++j) {
      Real* const place = tile.scores + j * attention_tile_rows + row;
      hn::Store(hn::Add(hn::Load(d, place), product), d, place);
    }
  }

  /// The first key of the tile at which some row of the vector still counts.
  Index first_counted(const ScoreTile& tile, Index row) const {
    Real lowest = limits_[row];
    for (Index lane = 1; lane < lane_count(); ++lane) lowest = std::min(lowest, limits_[row + lane]);
    const Index begin = first_seen_key(tile, row);
    return std::clamp(static_cast<Index>(lowest) - tile.first_key, begin,
                      std::max(end_seen_key(tile, row), begin));
  }

  static HWY_INLINE Vector key_number(const ScoreTile& tile, Index key) {
    return hn::Set(Lanes(), static_cast<Real>(tile.first_key + key));
  }
  Real* kept_counts() const { return view_.kept + kept_at_; }
  Real* kept_limits() const { return kept_counts() + problem_.batch * problem_.heads * problem_.query_rows; }

  ContextualPositionsView view_;
  const AttentionProblem& problem_;
  Index padded_, vectors_;
  Index rows_ = 0, used_ = 0, kept_at_ = 0;  // of the query tile: its rows, the rows of the table in use
  Real last_ = 0;                            // used_ - 1
  Rows query_rows_, table_rows_;
  Real* products_;               // z: [N, rows]
  Real* counts_;                 // [rows]: the count so far; backward, the position of the next key
  Real* limits_;                 // [rows]: the key at which the count stopped
  Real* d_products_ = nullptr;   // dz: [N, rows]
  Real* sums_ = nullptr;         // [GradientBetween::parts, rows]
  Real* d_positions_ = nullptr;  // [rows]: the sum of dp so far
  Real *gates_ = nullptr, *positions_ = nullptr, *slopes_ = nullptr;  // [keys, rows]
  Real* queries_ = nullptr;                                           // [rows, D padded]
  Real* d_table_rows_ = nullptr;                                      // [N, D padded]
  double* d_table_ = nullptr;
};

inline ContextualPositionsTerm make_term(const ContextualPositionsView& view, const AttentionProblem& problem,
                                         Index worker, Real* scratch) {
  return {view, problem, worker, scratch};
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif
#endif

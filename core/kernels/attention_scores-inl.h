// What the forward and the backward pass and the probe share: one query tile, and its scores against one key
// tile. Included once for every instruction set.
#if defined(TAPELINE_ATTENTION_SCORES) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_ATTENTION_SCORES
#undef TAPELINE_ATTENTION_SCORES
#else
#define TAPELINE_ATTENTION_SCORES
#endif

#include "core/kernels/attention_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// Where a mask cuts through a tile, products skip what no row of a band this high sees.
inline constexpr Index band = 16;

inline Index key_tile_count(const AttentionProblem& problem) {
  return (problem.key_rows + attention_tile_keys - 1) / attention_tile_keys;
}

/// Width of a head in whole vectors of any instruction set.
inline Index padded_width(const AttentionProblem& problem) { return Carver::rounded(problem.width); }

/// Rows of D numbers, `stride` apart; the last vector of each may be read whole.
struct Rows {
  const Real* first = nullptr;
  Index stride = 0;
};

/// One query tile of one head, transposed so that lanes are its rows, and the key tile it looks at.
class TileScores {
 public:
  TileScores(const AttentionProblem& problem, Carver& carver)
      : problem_(problem),
        factors_(carver.take(attention_tile_rows)),
        queries_(carver.take(problem.width * attention_tile_rows)),
        scores_(carver.take(attention_tile_rows * attention_tile_keys)) {
    if (problem.dropout.rate > 0) {
      drop_rows_ = carver.take(attention_tile_rows * attention_tile_keys);
      drop_ = carver.take(attention_tile_rows * attention_tile_keys);
    }
    if (problem.width % lane_count() != 0) {
      padded_keys_ = carver.take(attention_tile_keys * padded_width(problem));
      padded_values_ = carver.take(attention_tile_keys * padded_width(problem));
    }
  }

  void start(Index batch, Index head, Index tile) {
    batch_ = batch;
    head_ = head;
    first_row_ = tile * attention_tile_rows;
    rows_ = std::min(attention_tile_rows, problem_.query_rows - first_row_);
    vectors_ = (rows_ + lane_count() - 1) / lane_count();
    for (Index i = 0; i < rows_; ++i) factors_[i] = problem_.scale;
    if (problem_.query_scale != nullptr) {
      const Real* const row_scale = problem_.query_scale + head * problem_.query_scale_stride + first_row_;
      for (Index i = 0; i < rows_; ++i) factors_[i] *= row_scale[i];
    }
    transpose(query_rows(), problem_.query.row, rows_, problem_.width, factors_, queries_,
              attention_tile_rows, vectors_ * lane_count());
  }

  /// Before the keys are looked at from the beginning, once more or for the first time.
  void begin_sweep() { fresh_ = true; }

  /// Looks at key tile number `key_tile`; false when no row of the query tile sees any of it.
  bool look_at(Index key_tile) {
    first_key_ = key_tile * attention_tile_keys;
    keys_ = std::min(attention_tile_keys, problem_.key_rows - first_key_);
    mask_ = TileMask(problem_.mask, problem_.first_distance() + first_row_ - first_key_, rows_, first_key_,
                     keys_);
    if (mask_.empty()) return false;
    begins_ = std::exchange(fresh_, false);
    whole_ = mask_.whole();
    const Index key_head = head_ / (problem_.heads / problem_.key_heads);
    keys_here_ = {problem_.k + problem_.key.at(batch_, key_head, first_key_), problem_.key.row};
    values_here_ = {problem_.v + problem_.value.at(batch_, key_head, first_key_), problem_.value.row};
    if (padded_keys_ != nullptr) {
      keys_here_ = pad(keys_here_, padded_keys_);
      values_here_ = pad(values_here_, padded_values_);
    }
    return true;
  }

  /// to[keys, rows] = A[keys, D] B[D, rows], where some row of the band sees the key.
  void key_products(const Rows& a, const Real* b, Real* to) const {
    for_key_bands([&](Index begin, Index end, Index first, Index last) {
      const Index column = first / lane_count() * lane_count();
      multiply<Layout::depth_adjacent, Into::overwrite>(
          a.first + begin * a.stride, a.stride, end - begin, problem_.width, b + column, attention_tile_rows,
          to + begin * attention_tile_rows + column, attention_tile_rows,
          (last - column + lane_count() - 1) / lane_count());
    });
  }

  /// Scores of the tile, and what the term makes ready.
  template <class Term>
  void score(Term& term) {
    key_products(keys_here_, queries_, scores_);
    if constexpr (Term::active) term.prepare(tile());
  }

  /// The score of `key` and the rows from `row` on, with all that belongs to it.
  template <bool whole, class Term>
  HWY_INLINE hn::Vec<Lanes> finished(const Term& term, Index key, Index row) const {
    const Lanes d;
    auto value = term.add(key, row, hn::Load(d, scores_ + key * attention_tile_rows + row));
    if constexpr (!whole) {
      const Index first = mask_.first_row(key) - row, end = mask_.end_row(key) - row;
      if (first > 0 || end < lane_count()) {
        const auto before = hn::FirstN(d, static_cast<std::size_t>(std::max<Index>(first, 0)));
        const auto until = hn::FirstN(d, static_cast<std::size_t>(std::max<Index>(end, 0)));
        value = hn::IfThenElse(hn::AndNot(before, until), value,
                               hn::Set(d, -std::numeric_limits<Real>::infinity()));
      }
    }
    return value;
  }

  /// The keys [first, end) outside which no row of the vector that begins at `row` sees any.
  Index first_key(Index row) const { return whole_ ? 0 : mask_.first_key(row); }
  Index end_key(Index row) const {
    return whole_ ? keys_ : mask_.end_key(std::min(row + lane_count(), rows_) - 1);
  }

  /// sums[rows, D] (+)= weights^T[rows, keys] B[keys, D], weights standing [keys, rows].
  void add_over_keys(const Real* weights, const Rows& b, Real* sums, Index sums_stride, bool first) const {
    const Index vectors = (problem_.width + lane_count() - 1) / lane_count();
    const Index height = whole_ ? rows_ : band;
    for (Index begin = 0; begin < rows_; begin += height) {
      const Index end = std::min(begin + height, rows_);
      const Index from = whole_ ? 0 : mask_.first_key(begin);
      const Index depth = std::max<Index>((whole_ ? keys_ : mask_.end_key(end - 1)) - from, 0);
      const Real* const a = weights + from * attention_tile_rows + begin;
      Real* const c = sums + begin * sums_stride;
      if (first) {
        multiply<Layout::rows_adjacent, Into::overwrite>(a, attention_tile_rows, end - begin, depth,
                                                         b.first + from * b.stride, b.stride, c, sums_stride,
                                                         vectors);
      } else if (depth > 0) {
        multiply<Layout::rows_adjacent, Into::add>(a, attention_tile_rows, end - begin, depth,
                                                   b.first + from * b.stride, b.stride, c, sums_stride,
                                                   vectors);
      }
    }
  }

  /// Calls body(first key, end key, first row, end row) for bands of keys and the rows that see any of them.
  template <class Body>
  void for_key_bands(Body&& body) const {
    const Index height = whole_ ? keys_ : band;
    for (Index begin = 0; begin < keys_; begin += height) {
      const Index end = std::min(begin + height, keys_);
      const Index first = mask_.first_row(begin), last = mask_.last_end_row(begin, end);
      if (first < last) body(begin, end, first, last);
    }
  }

  /// Factors of dropout, [keys, rows]: 0 or 1 / (1 - rate), by counter; null without dropout.
  const Real* dropout_factors() {
    if (drop_ == nullptr) return nullptr;
    const DropoutCounter counter(problem_.dropout.key, problem_.dropout.rate);
    for (Index i = 0; i < rows_; ++i) {
      counter.factors(problem_.dropout.first_sequence + batch_, head_,
                      problem_.positions.query.begin + first_row_ + i,
                      problem_.positions.key.begin + first_key_, keys_, drop_rows_ + i * attention_tile_keys);
    }
    transpose(drop_rows_, attention_tile_keys, rows_, keys_, nullptr, drop_, attention_tile_rows,
              vectors_ * lane_count());
    return drop_;
  }

  ScoreTile tile() const {
    return {batch_,           head_,
            first_row_,       rows_,
            first_key_,       keys_,
            begins_,          mask_,
            queries_,         factors_,
            query_rows(),     problem_.query.row,
            keys_here_.first, keys_here_.stride,
            scores_};
  }
  bool whole() const { return whole_; }
  const Real* query_rows() const { return problem_.q + problem_.query.at(batch_, head_, first_row_); }
  /// The number of the tile's first row among all rows [B, H, Tq].
  Index row_index() const { return (batch_ * problem_.heads + head_) * problem_.query_rows + first_row_; }
  const Rows& keys_here() const { return keys_here_; }
  const Rows& values_here() const { return values_here_; }
  const Real* factors() const { return factors_; }
  Real* scores() const { return scores_; }
  Index batch() const { return batch_; }
  Index head() const { return head_; }
  Index first_row() const { return first_row_; }
  Index rows() const { return rows_; }
  Index keys() const { return keys_; }
  Index padded_rows() const { return vectors_ * lane_count(); }
  Index first_key_row() const { return first_key_; }

 private:
  Rows pad(const Rows& rows, Real* to) const {
    const Index width = problem_.width, padded = padded_width(problem_);
    for (Index j = 0; j < keys_; ++j) {
      std::copy_n(rows.first + j * rows.stride, width, to + j * padded);
      std::fill_n(to + j * padded + width, padded - width, Real{0});
    }
    return {to, padded};
  }

  const AttentionProblem& problem_;
  Real* factors_;  // [rows]: scale times query scale
  Real* queries_;  // [D, rows]
  Real* scores_;   // [keys, rows]
  Real *drop_rows_ = nullptr, *drop_ = nullptr;
  Real *padded_keys_ = nullptr, *padded_values_ = nullptr;
  Index batch_ = 0, head_ = 0, first_row_ = 0, rows_ = 0, vectors_ = 0;
  Index first_key_ = 0, keys_ = 0;
  Rows keys_here_, values_here_;
  TileMask mask_{KeyMask{}, 0, 0, 0, 0};
  bool whole_ = false, fresh_ = true, begins_ = false;
};

/// Calls body() for every key tile that some row of the query tile sees, in the given order.
template <KeyOrder order, class Body>
void for_key_tiles(const AttentionProblem& problem, TileScores& scores, Body&& body) {
  const Index count = key_tile_count(problem);
  scores.begin_sweep();
  for (Index step = 0; step < count; ++step) {
    if (scores.look_at(order == KeyOrder::left_to_right ? step : count - 1 - step)) body();
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

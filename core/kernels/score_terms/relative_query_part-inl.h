// (q + v) . r(d) of RelativeVectors. Included once for every instruction set.
#if defined(TAPELINE_RELATIVE_QUERY_PART) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_RELATIVE_QUERY_PART
#undef TAPELINE_RELATIVE_QUERY_PART
#else
#define TAPELINE_RELATIVE_QUERY_PART
#endif

#include "core/kernels/score_terms/relative_vectors_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// A band of 16 query rows meets 16 + keys - 1 distances in a tile: one product of the band with those
/// vectors. In its row i, which stands at places from the largest distance down, key j belongs to place
/// 15 - i + j: read with a stride one shorter, the keys of all rows stand under each other, and are turned
/// into the tile. The gradient is written along the same diagonals, zeros beside it, and is two products a
/// band.
class RelativeQueryPart {
 public:
  RelativeQueryPart(RelativeTile& here, Carver& carver)
      : here_(here),
        r_(here.view.query),
        queries_(carver.take(attention_tile_rows * here.padded)),
        d_queries_(carver.take(attention_tile_rows * here.padded)),
        row_numbers_(carver.take(attention_tile_rows)) {}

  void start(const ScoreTile& tile) {
    begun_ = true;
    rows_ = tile.rows;
    only_row_ = nullptr;
    const Index width = here_.width, padded = here_.padded;
    const Real* const v = of_head(here_.view.v);
    for (Index i = 0; i < rows_; ++i) {
      const Real* const from = tile.query_rows + i * tile.query_row_stride;
      Real* const to = queries_ + i * padded;
      const Real factor = here_.factors[i];
      if (v == nullptr) {
        for (Index c = 0; c < width; ++c) to[c] = factor * from[c];
      } else {
        for (Index c = 0; c < width; ++c) to[c] = factor * (from[c] + v[c]);
      }
      std::fill(to + width, to + padded, Real{0});
    }
    std::fill_n(d_queries_, rows_ * padded, Real{0});
  }

  /// Writes the tile's `added`.
  void prepare(const ScoreTile& tile) {
    switch (here_.way(r_)) {
      case DistanceWay::strips:
        for (Index begin = 0; begin < tile.rows; begin += RelativeTile::band) add_band(tile, begin);
        return;
      case DistanceWay::one_vector:
        add_row_numbers(tile);
        return;
      case DistanceWay::pairs:
        std::fill_n(here_.added, tile.keys * attention_tile_rows, Real{0});
        RelativeTile::for_pairs(tile, [&](Index i, Index j) {
          here_.added[j * attention_tile_rows + i] =
              dot(query(i), r_.row(here_.head, here_.distance(tile, i, j)), here_.width);
        });
        return;
    }
  }

  /// Sums dS r for the queries, and dS^T factor (q + v) for r.
  void gradient(const ScoreTile& tile, const Real* d_scores) {
    switch (here_.way(r_)) {
      case DistanceWay::strips:
        for (Index begin = 0; begin < tile.rows; begin += RelativeTile::band) {
          differentiate_band(tile, begin, d_scores);
        }
        return;
      case DistanceWay::one_vector:
        differentiate_row_numbers(tile, d_scores);
        return;
      case DistanceWay::pairs:
        RelativeTile::for_pairs(tile, [&](Index i, Index j) {
          const Real d_score = d_scores[j * attention_tile_rows + i];
          const Index distance = here_.distance(tile, i, j);
          add_multiple(d_score, r_.row(here_.head, distance), d_query(i), here_.width);
          Real* const d_row = here_.d_row(r_, distance);
          if (d_row != nullptr) add_multiple(d_score, query(i), d_row, here_.width);
        });
        return;
    }
  }

  /// After the last key tile: d_q += sum of dS r, d_v = sum of factor dS r.
  void finish_gradient(const TileGradients& gradients) {
    if (!begun_) return;
    begun_ = false;
    const Real* const v = of_head(here_.view.v);
    double* const d_v = here_.of_worker(here_.view.d_v);
    for (Index i = 0; i < rows_; ++i) {
      if (gradients.query != nullptr)
        add_multiple(1, d_query(i), gradients.query + i * gradients.query_stride, here_.width);
      if (v != nullptr && gradients.factor != nullptr) gradients.factor[i] += dot(v, d_query(i), here_.width);
      if (d_v == nullptr) continue;
      for (Index c = 0; c < here_.width; ++c) d_v[c] += static_cast<double>(here_.factors[i] * d_query(i)[c]);
    }
  }

 private:
  /// Query rows [begin, begin + count), the keys [first, end) that one of them sees, and the places of their
  /// distances.
  struct Band {
    Index count, first, end, place, places;
    bool empty() const { return first >= end; }
  };
  Band band(const ScoreTile& tile, Index begin) const {
    const Index count = std::min(RelativeTile::band, tile.rows - begin);
    const Index first = tile.mask.first_key(begin), end = tile.mask.end_key(begin + count - 1);
    const Index largest = here_.first + begin + count - 1 - first;
    return {count, first, end, r_.place(largest), end - first + count - 1};
  }

  const Real* of_head(const Real* vectors) const {
    return vectors == nullptr ? nullptr : vectors + here_.head * here_.width;
  }
  const Real* query(Index row) const { return queries_ + row * here_.padded; }
  Real* d_query(Index row) const { return d_queries_ + row * here_.padded; }

  void add_band(const ScoreTile& tile, Index begin) {
    const Band b = band(tile, begin);
    if (b.empty() || !RelativeTile::within(r_, b.place, b.places)) return;
    constexpr Index stride = RelativeTile::strip_stride;
    multiply<Layout::depth_adjacent, Into::overwrite>(query(begin), here_.padded, b.count, here_.width,
                                                      here_.columns(r_) + b.place, r_.stride, here_.strip,
                                                      stride, vectors_of(b.places));
    transpose(here_.strip + b.count - 1, stride - 1, b.count, b.end - b.first, nullptr,
              here_.added + b.first * attention_tile_rows + begin, attention_tile_rows, RelativeTile::band);
  }

  void differentiate_band(const ScoreTile& tile, Index begin, const Real* d_scores) {
    const Band b = band(tile, begin);
    if (b.empty()) return;
    constexpr Index stride = RelativeTile::strip_stride;
    const Index padded = here_.padded, keys = b.end - b.first;
    std::fill_n(here_.strip, b.count * stride, Real{0});
    transpose(d_scores + b.first * attention_tile_rows + begin, attention_tile_rows, keys, b.count, nullptr,
              here_.strip + b.count - 1, stride - 1, keys);
    multiply<Layout::depth_adjacent, Into::add>(here_.strip, stride, b.count, b.places,
                                                here_.rows(r_) + b.place * padded, padded, d_query(begin),
                                                padded, here_.vectors);
    if (r_.d_rows == nullptr) return;
    multiply<Layout::rows_adjacent, Into::add>(here_.strip, stride, b.places, b.count, query(begin), padded,
                                               here_.d_rows(r_) + b.place * padded, padded, here_.vectors);
  }

  /// One vector for the whole tile: one number a row, the same for all keys and for the next such tile.
  void add_row_numbers(const ScoreTile& tile) {
    const Lanes d;
    const Real* const row = r_.row(here_.head, here_.only_distance(r_));
    if (row != only_row_) {
      only_row_ = row;
      for (Index i = 0; i < attention_tile_rows; ++i) {
        row_numbers_[i] = i < rows_ ? dot(query(i), row, here_.width) : Real{0};
      }
    }
    for (Index j = 0; j < tile.keys; ++j) {
      for (Index i = 0; i < attention_tile_rows; i += lane_count()) {
        hn::Store(hn::Load(d, row_numbers_ + i), d, here_.added + j * attention_tile_rows + i);
      }
    }
  }

  void differentiate_row_numbers(const ScoreTile& tile, const Real* d_scores) {
    const Lanes d;
    const Index distance = here_.only_distance(r_);
    for (Index i = 0; i < rows_; i += lane_count()) {
      auto sum = hn::Zero(d);
      for (Index j = 0; j < tile.keys; ++j) {
        sum = hn::Add(sum, hn::Load(d, d_scores + j * attention_tile_rows + i));
      }
      hn::Store(sum, d, here_.strip + i);
    }
    for (Index i = 0; i < rows_; ++i) {
      add_multiple(here_.strip[i], r_.row(here_.head, distance), d_query(i), here_.width);
    }
    if (r_.d_rows == nullptr) return;
    multiply<Layout::depth_adjacent, Into::add>(here_.strip, attention_tile_rows, 1, rows_, queries_,
                                                here_.padded, here_.d_row(r_, distance), here_.padded,
                                                here_.vectors);
  }

  RelativeTile& here_;
  const DistanceVectorsView& r_;
  Real* queries_;      // [rows, D padded]: factor (q + v)
  Real* d_queries_;    // [rows, D padded]: sums of dS r
  Real* row_numbers_;  // [rows]: queries_ . only_row_
  const Real* only_row_ = nullptr;
  Index rows_ = 0;
  bool begun_ = false;
};

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

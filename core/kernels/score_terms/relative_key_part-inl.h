// u . k + k . p(d) of RelativeVectors. Included once for every instruction set.
#if defined(TAPELINE_RELATIVE_KEY_PART) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_RELATIVE_KEY_PART
#undef TAPELINE_RELATIVE_KEY_PART
#else
#define TAPELINE_RELATIVE_KEY_PART
#endif

#include "core/kernels/score_terms/relative_vectors_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// As RelativeQueryPart with keys in place of queries: a band of 16 keys meets 16 + rows - 1 distances, which
/// stand from the smallest up. The product of the band with those vectors has the rows of key j side by side
/// from place 15 - j on, as the tile has them, so nothing needs turning.
class RelativeKeyPart {
 public:
  RelativeKeyPart(RelativeTile& here, Carver& carver)
      : here_(here),
        p_(here.view.key),
        products_(carver.take(attention_tile_keys * RelativeTile::strip_stride)),
        numbers_(carver.take(attention_tile_keys)),
        sums_(carver.take(attention_tile_keys)),
        vector_(carver.take(here.padded)),
        d_vector_(carver.take(here.padded)),
        d_keys_(carver.take(RelativeTile::band * here.padded)) {}

  /// Adds to the tile's `added`.
  void prepare(const ScoreTile& tile) {
    const Lanes d;
    make_numbers(tile);
    for (Index begin = 0; begin < tile.keys; begin += RelativeTile::band) {
      const Band b = band(tile, begin);
      if (b.empty() || (way_ == DistanceWay::strips && !RelativeTile::within(p_, b.place, b.places)))
        continue;
      if (way_ == DistanceWay::strips) {
        multiply<Layout::depth_adjacent, Into::overwrite>(
            key(tile, begin), tile.key_row_stride, b.count, here_.width, here_.columns(p_) + b.place,
            p_.stride, products(begin), RelativeTile::strip_stride, vectors_of(b.places));
      }
      for (Index j = 0; j < b.count; ++j) {
        const Real* const more = along(products(begin), b, j);
        const auto number = hn::Set(d, numbers_[begin + j]);
        Real* const added = here_.added + (begin + j) * attention_tile_rows;
        for (Index row = b.first; row < b.end; row += lane_count()) {
          const auto value = more == nullptr ? number : hn::Add(number, hn::LoadU(d, more + row));
          hn::Store(hn::MulAdd(hn::Load(d, here_.factors + row), value, hn::Load(d, added + row)), d,
                    added + row);
        }
      }
    }
    if (way_ != DistanceWay::pairs) return;
    RelativeTile::for_pairs(tile, [&](Index i, Index j) {
      here_.added[j * attention_tile_rows + i] += here_.factors[i] * pair(tile, i, j);
    });
  }

  /// With G = dS times the rows' factors: d_k += G^T (u + p), d_p += G k, d_u = sum of G k, and the factors'
  /// own gradient.
  void gradient(const ScoreTile& tile, const Real* d_scores, const TileGradients& gradients) {
    for (Index begin = 0; begin < tile.keys; begin += RelativeTile::band) {
      const Band b = band(tile, begin);
      weigh(tile, begin, b, d_scores, gradients);
      if (way_ == DistanceWay::strips && !b.empty()) differentiate_band(tile, begin, b, gradients);
    }
    if (alike_) differentiate_alike(tile, gradients);
    if (way_ != DistanceWay::pairs) return;
    RelativeTile::for_pairs(tile, [&](Index i, Index j) {
      const Real d_score = d_scores[j * attention_tile_rows + i], g = d_score * here_.factors[i];
      const Index distance = here_.distance(tile, i, j);
      if (gradients.key != nullptr)
        add_multiple(g, p_.row(here_.head, distance), gradients.key + j * gradients.key_stride, here_.width);
      Real* const d_row = here_.d_row(p_, distance);
      if (d_row != nullptr) add_multiple(g, key(tile, j), d_row, here_.width);
      if (gradients.factor != nullptr) gradients.factor[i] += d_score * pair(tile, i, j);
    });
  }

 private:
  /// Keys [begin, begin + count), the query rows [first, end), whole bands, of which one sees one of them,
  /// and the places of their distances.
  struct Band {
    Index count, first, end, place, places;
    bool empty() const { return first >= end; }
  };
  Band band(const ScoreTile& tile, Index begin) const {
    constexpr Index height = RelativeTile::band;
    const Index count = std::min(height, tile.keys - begin);
    const Index first = tile.mask.first_row(begin), end = tile.mask.last_end_row(begin, begin + count);
    if (first >= end) return {count, 0, 0, 0, 0};
    const Index from = first / height * height, to = (end + height - 1) / height * height;
    const Index smallest = here_.first + from - (begin + count - 1);
    return {count, from, to, p_.place(smallest), to - from + count - 1};
  }
  /// Where the numbers of key `j` of a band stand in strips, to be read by row; null where there are none.
  Real* along(Real* strips, const Band& b, Index j) const {
    if (way_ != DistanceWay::strips) return nullptr;
    return strips + j * RelativeTile::strip_stride + (b.count - 1 - j) - b.first;
  }
  Real* products(Index key) const { return products_ + key * RelativeTile::strip_stride; }
  static const Real* key(const ScoreTile& tile, Index j) { return tile.key_rows + j * tile.key_row_stride; }
  Real pair(const ScoreTile& tile, Index i, Index j) const {
    return dot(key(tile, j), p_.row(here_.head, here_.distance(tile, i, j)), here_.width);
  }

  /// What a key adds to the scores of all rows alike: its product with u, and with p where the tile has one
  /// for all.
  void make_numbers(const ScoreTile& tile) {
    way_ = p_.present() ? here_.way(p_) : DistanceWay::one_vector;
    one_p_ = p_.present() && way_ == DistanceWay::one_vector;
    alike_ = one_p_ || here_.view.u != nullptr;
    std::fill_n(numbers_, tile.keys, Real{0});
    if (!alike_) return;
    std::fill_n(vector_, here_.padded, Real{0});
    if (here_.view.u != nullptr)
      add_multiple(1, here_.view.u + here_.head * here_.width, vector_, here_.width);
    if (one_p_) add_multiple(1, p_.row(here_.head, here_.only_distance(p_)), vector_, here_.width);
    for (Index j = 0; j < tile.keys; ++j) numbers_[j] = dot(key(tile, j), vector_, here_.width);
  }

  /// Sums G over the rows of each key, into sums_; writes G along the strip; adds to the factors' gradient.
  void weigh(const ScoreTile& tile, Index begin, const Band& b, const Real* d_scores,
             const TileGradients& gradients) {
    const Lanes d;
    // Rows beyond the last vector were never written.
    const Index end = std::min(b.end, vectors_of(tile.rows) * lane_count());
    if (way_ == DistanceWay::strips) std::fill_n(here_.strip, b.count * RelativeTile::strip_stride, Real{0});
    for (Index j = 0; j < b.count; ++j) {
      const Real* const d_score = d_scores + (begin + j) * attention_tile_rows;
      const Real* const more = along(products(begin), b, j);
      Real* const weighted = along(here_.strip, b, j);
      const auto number = hn::Set(d, numbers_[begin + j]);
      auto total = hn::Zero(d);
      for (Index row = b.first; row < end; row += lane_count()) {
        const auto d_here = hn::Load(d, d_score + row);
        const auto g = hn::Mul(d_here, hn::Load(d, here_.factors + row));
        total = hn::Add(total, g);
        if (weighted != nullptr) hn::StoreU(g, d, weighted + row);
        if (gradients.factor == nullptr) continue;
        const auto value = more == nullptr ? number : hn::Add(number, hn::LoadU(d, more + row));
        Real* const factor = gradients.factor + row;
        hn::Store(hn::MulAdd(d_here, value, hn::Load(d, factor)), d, factor);
      }
      sums_[begin + j] = hn::GetLane(hn::SumOfLanes(d, total));
    }
  }

  void differentiate_band(const ScoreTile& tile, Index begin, const Band& b, const TileGradients& gradients) {
    constexpr Index stride = RelativeTile::strip_stride;
    const Index padded = here_.padded;
    const Real* const rows = here_.rows(p_) + b.place * padded;
    if (gradients.key != nullptr) {
      Real* const d_key = gradients.key + begin * gradients.key_stride;
      if (here_.width % lane_count() == 0) {
        multiply<Layout::depth_adjacent, Into::add>(here_.strip, stride, b.count, b.places, rows, padded,
                                                    d_key, gradients.key_stride, here_.vectors);
      } else {
        multiply<Layout::depth_adjacent, Into::overwrite>(here_.strip, stride, b.count, b.places, rows,
                                                          padded, d_keys_, padded, here_.vectors);
        for (Index j = 0; j < b.count; ++j) {
          add_multiple(1, d_keys_ + j * padded, d_key + j * gradients.key_stride, here_.width);
        }
      }
    }
    if (p_.d_rows == nullptr) return;
    multiply<Layout::rows_adjacent, Into::add>(here_.strip, stride, b.places, b.count, key(tile, begin),
                                               tile.key_row_stride, here_.d_rows(p_) + b.place * padded,
                                               padded, here_.vectors);
  }

  /// The gradients that go through vector_.
  void differentiate_alike(const ScoreTile& tile, const TileGradients& gradients) {
    if (gradients.key != nullptr) {
      for (Index j = 0; j < tile.keys; ++j) {
        add_multiple(sums_[j], vector_, gradients.key + j * gradients.key_stride, here_.width);
      }
    }
    double* const d_u = here_.of_worker(here_.view.d_u);
    Real* const d_row = one_p_ ? here_.d_row(p_, here_.only_distance(p_)) : nullptr;
    if (d_u == nullptr && d_row == nullptr) return;
    multiply<Layout::depth_adjacent, Into::overwrite>(sums_, attention_tile_keys, 1, tile.keys, tile.key_rows,
                                                      tile.key_row_stride, d_vector_, here_.padded,
                                                      here_.vectors);
    if (d_u != nullptr) {
      for (Index c = 0; c < here_.width; ++c) d_u[c] += static_cast<double>(d_vector_[c]);
    }
    if (d_row != nullptr) add_multiple(1, d_vector_, d_row, here_.width);
  }

  RelativeTile& here_;
  const DistanceVectorsView& p_;
  Real* products_;  // [keys, places]: k . p
  Real* numbers_;   // [keys]: k . vector_
  Real* sums_;      // [keys]: of G
  Real* vector_;    // [D padded]: u + p, as far as all rows have the same
  Real* d_vector_;  // [D padded]
  Real* d_keys_;    // [band, D padded], for widths that are no whole vectors
  DistanceWay way_ = DistanceWay::one_vector;
  bool one_p_ = false, alike_ = false;
};

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

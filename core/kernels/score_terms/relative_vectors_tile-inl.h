// Where one tile stands among the distances of RelativeVectors, and what its two parts share. Included once
// for every instruction set.
#if defined(TAPELINE_RELATIVE_VECTORS_TILE) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_RELATIVE_VECTORS_TILE
#undef TAPELINE_RELATIVE_VECTORS_TILE
#else
#define TAPELINE_RELATIVE_VECTORS_TILE
#endif

#include "core/kernels/attention_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// to[count] += factor * from[count].
inline void add_multiple(Real factor, const Real* from, Real* to, Index count) {
  const Lanes d;
  const auto factors = hn::Set(d, factor);
  Index n = 0;
  for (; n + lane_count() <= count; n += lane_count()) {
    hn::StoreU(hn::MulAdd(factors, hn::LoadU(d, from + n), hn::LoadU(d, to + n)), d, to + n);
  }
  for (; n < count; ++n) to[n] += factor * from[n];
}

inline Index vectors_of(Index numbers) { return (numbers + lane_count() - 1) / lane_count(); }

/// How the distances of a tile are served: a band of rows at a time, as all of them have the same vector, or,
/// where the positions have gaps, pair by pair.
enum class DistanceWay { strips, one_vector, pairs };

/// The tile that is being worked on.
class RelativeTile {
 public:
  static constexpr Index band = RelativeVectorsView::band;
  static constexpr Index strip_stride = RelativeVectorsView::strip;
  static_assert(strip_stride == attention_tile_keys + band && strip_stride == attention_tile_rows + band);

  RelativeTile(const RelativeVectorsView& of, const PassPositions& positions, Index worker, Carver& carver)
      : view(of),
        width(of.width),
        padded(of.padded_width),
        vectors(vectors_of(of.width)),
        added(carver.take(attention_tile_rows * attention_tile_keys)),
        strip(carver.take(band * strip_stride)),
        factors(carver.take(attention_tile_rows)),
        positions_(positions),
        worker_(worker) {}

  /// A query tile begins.
  void start(const ScoreTile& tile) {
    head = tile.head;
    std::copy_n(tile.factors, tile.rows, factors);
    std::fill(factors + tile.rows, factors + attention_tile_rows, Real{0});
  }

  void locate(const ScoreTile& tile) {
    first = distance(tile, 0, 0);
    lowest_ = first - (tile.keys - 1);
    highest_ = first + (tile.rows - 1);
    const Positions &query = positions_.query, &key = positions_.key;
    gaps_ = !consecutive(query, tile.first_row, tile.rows) || !consecutive(key, tile.first_key, tile.keys);
    if (gaps_) {
      const Range queries = range(query, tile.first_row, tile.rows);
      const Range keys = range(key, tile.first_key, tile.keys);
      lowest_ = queries.lowest - keys.highest;
      highest_ = queries.highest - keys.lowest;
    }
    report(tile);
  }

  Index distance(const ScoreTile& tile, Index row, Index key) const {
    return positions_.query.at(tile.first_row + row) - positions_.key.at(tile.first_key + key);
  }
  DistanceWay way(const DistanceVectorsView& table) const {
    if (highest_ <= table.lowest || lowest_ >= table.highest) return DistanceWay::one_vector;
    return gaps_ || table.columns == nullptr ? DistanceWay::pairs : DistanceWay::strips;
  }
  /// The distance that stands for all of a tile with one vector.
  Index only_distance(const DistanceVectorsView& table) const {
    return highest_ <= table.lowest ? table.lowest : table.highest;
  }
  /// Only a tile with distances outside the tables, an error that is told afterwards, reaches past the
  /// places.
  static bool within(const DistanceVectorsView& table, Index place, Index places) {
    return place >= 0 && place + places <= table.top - table.bottom + 1;
  }

  /// The copies of the tile's head, and the worker's sums of its gradient.
  const Real* columns(const DistanceVectorsView& table) const {
    return table.columns + table.of_head(head, width * table.stride);
  }
  const Real* rows(const DistanceVectorsView& table) const {
    return table.rows + table.of_head(head, table.stride * padded);
  }
  Real* d_rows(const DistanceVectorsView& table) const {
    if (table.d_rows == nullptr) return nullptr;
    const Index numbers = table.stride * padded;
    return table.d_rows + worker_ * table.heads * numbers + table.of_head(head, numbers);
  }
  Real* d_row(const DistanceVectorsView& table, Index distance) const {
    if (table.d_rows == nullptr) return nullptr;
    return d_rows(table) + table.place(std::clamp(distance, table.lowest, table.highest)) * padded;
  }
  double* of_worker(double* sums) const {
    return sums == nullptr ? nullptr : sums + (worker_ * view.heads + head) * width;
  }

  /// Calls body(row, key) for the pairs of the tile that see each other.
  template <class Body>
  static void for_pairs(const ScoreTile& tile, const Body& body) {
    for (Index j = 0; j < tile.keys; ++j) {
      for (Index i = tile.mask.first_row(j); i < tile.mask.end_row(j); ++i) body(i, j);
    }
  }

  const RelativeVectorsView& view;
  const Index width, padded, vectors;  // of a head; vectors: that hold `width`
  Real* const added;                   // [keys, rows]: what the tile's scores get
  Real* const strip;                   // [band, places]: scratch
  Real* const factors;                 // [rows], 0 in the rows that are padding
  Index head = 0;
  Index first = 0;  // distance of row 0 and key 0

 private:
  struct Range {
    Index lowest, highest;
  };
  static Range range(const Positions& rows, Index first, Index count) {
    Range all{rows.at(first), rows.at(first)};
    for (Index n = 1; n < count; ++n) {
      all.lowest = std::min(all.lowest, rows.at(first + n));
      all.highest = std::max(all.highest, rows.at(first + n));
    }
    return all;
  }
  static bool consecutive(const Positions& rows, Index first, Index count) {
    if (rows.axis[0].empty()) return true;
    for (Index n = 1; n < count; ++n) {
      if (rows.at(first + n) != rows.at(first) + n) return false;
    }
    return true;
  }
  void report(const ScoreTile& tile) const {
    if (view.faults == nullptr || view.faults[worker_].found) return;
    if (lowest_ >= view.first_distance && highest_ <= view.last_distance) return;
    for_pairs(tile, [&](Index i, Index j) {
      const Index d = distance(tile, i, j);
      if (d < view.first_distance || d > view.last_distance) view.faults[worker_] = {true, d};
    });
  }

  const PassPositions& positions_;
  Index worker_;
  Index lowest_ = 0, highest_ = 0;
  bool gaps_ = false;
};

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

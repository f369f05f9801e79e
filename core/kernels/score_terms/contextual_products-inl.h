// What the term of contextual positions computes with. Included once for every instruction set.
#if defined(TAPELINE_CONTEXTUAL_PRODUCTS) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_CONTEXTUAL_PRODUCTS
#undef TAPELINE_CONTEXTUAL_PRODUCTS
#else
#define TAPELINE_CONTEXTUAL_PRODUCTS
#endif

#include "core/kernels/attention_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// sigmoid(x) = 1 / (1 + exp(-x)), accurate on both sides. Finite for NaN, which the score itself carries on.
HWY_INLINE hn::Vec<Lanes> gate_of(hn::Vec<Lanes> score) {
  const Lanes d;
  const auto x = hn::IfThenZeroElse(hn::IsNaN(score), score);
  const auto small = exponential(d, hn::Neg(hn::Abs(x))), one = hn::Set(d, Real{1});
  const auto upper = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), small, one);
  return hn::Div(upper, hn::Add(one, small));
}

/// The gates of the vector of rows that begins at `row`, 0 where a row does not see the key. `whole`: every
/// row of the tile sees every key.
template <bool whole>
HWY_INLINE hn::Vec<Lanes> where_seen(const ScoreTile& tile, Index key, Index row, hn::Vec<Lanes> gate) {
  if constexpr (whole) return gate;
  const Lanes d;
  const Index first = tile.mask.first_row(key) - row, end = tile.mask.end_row(key) - row;
  if (first <= 0 && end >= lane_count()) return gate;
  const auto before = hn::FirstN(d, static_cast<std::size_t>(std::max<Index>(first, 0)));
  const auto until = hn::FirstN(d, static_cast<std::size_t>(std::max<Index>(end, 0)));
  return hn::IfThenElseZero(hn::AndNot(before, until), gate);
}

/// The keys [first, end) outside which no row of the vector that begins at `row` sees any.
inline Index first_seen_key(const ScoreTile& tile, Index row) {
  return tile.mask.whole() ? 0 : tile.mask.first_key(row);
}
inline Index end_seen_key(const ScoreTile& tile, Index row) {
  return tile.mask.whole() ? tile.keys : tile.mask.end_key(std::min(row + lane_count(), tile.rows) - 1);
}

// Products of the rows of a tile with those of a table stand [N, attention_tile_rows]: lanes are rows of the
// tile, and each lane reads or writes at its own row n of the table.

/// Where the product with row floor + step of each lane stands, counted from that of lane 0 and row 0.
HWY_INLINE hn::Vec<hn::RebindToSigned<Lanes>> product_place(hn::Vec<Lanes> floor, int step) {
  constexpr int row_bits = 6;
  static_assert(attention_tile_rows == Index{1} << row_bits);
  const hn::RebindToSigned<Lanes> d;
  const auto n = hn::Add(hn::ConvertTo(d, floor), hn::Set(d, step));
  return hn::Add(hn::ShiftLeft<row_bits>(n), hn::Iota(d, 0));
}
HWY_INLINE hn::Vec<Lanes> read_products(const Real* products, hn::Vec<Lanes> floor, int step) {
  return hn::GatherIndex(Lanes(), products, product_place(floor, step));
}
HWY_INLINE void write_products(Real* products, hn::Vec<Lanes> floor, int step, hn::Vec<Lanes> values) {
  hn::ScatterIndex(values, Lanes(), products, product_place(floor, step));
}

/// The product with the row of the table at a fractional position, 0 to last, between the two nearest rows.
struct ProductBetween {
  hn::Vec<Lanes> slope, value;

  HWY_INLINE ProductBetween(const Real* products, hn::Vec<Lanes> position, Real last) {
    const Lanes d;
    const auto floor = hn::Min(hn::Floor(position), hn::Set(d, last - 1));
    const auto low = read_products(products, floor, 0);
    slope = hn::Sub(read_products(products, floor, 1), low);
    value = hn::MulAdd(hn::Sub(position, floor), slope, low);
  }
};

/// The gradient by the products, from gradients by values between them whose positions go down by at most 1
/// from one to the next. So nothing is summed in memory: the sums for the rows floor and floor + 1 of each
/// lane stay in registers, and each row's is written for the last time when the position has left it.
struct GradientBetween {
  static constexpr Index parts = 3;
  hn::Vec<Lanes> below, above, floor;

  static HWY_INLINE GradientBetween start(hn::Vec<Lanes> position, Real last) {
    const Lanes d;
    const auto highest = hn::Set(d, last - 1);
    return {hn::Zero(d), hn::Zero(d), hn::Min(hn::Floor(position), highest)};
  }
  static HWY_INLINE GradientBetween load(const Real* from) {
    const Lanes d;
    return {hn::Load(d, from), hn::Load(d, from + attention_tile_rows),
            hn::Load(d, from + 2 * attention_tile_rows)};
  }
  HWY_INLINE void store(Real* to) const {
    const Lanes d;
    hn::Store(below, d, to);
    hn::Store(above, d, to + attention_tile_rows);
    hn::Store(floor, d, to + 2 * attention_tile_rows);
  }

  HWY_INLINE void add(hn::Vec<Lanes> position, Real last, hn::Vec<Lanes> gradient, Real* d_products) {
    const Lanes d;
    const auto here = hn::Min(hn::Floor(position), hn::Set(d, last - 1));
    const auto moved = hn::Lt(here, floor);
    if (!hn::AllFalse(d, moved)) {
      write_products(d_products, floor, 1, above);  // lanes that stay write once more when they move
      above = hn::IfThenElse(moved, below, above);
      below = hn::IfThenZeroElse(moved, below);
      floor = here;
    }
    const auto upper = hn::Mul(hn::Sub(position, here), gradient);
    above = hn::Add(above, upper);
    below = hn::Add(below, hn::Sub(gradient, upper));
  }
  HWY_INLINE void finish(Real* d_products) const {
    write_products(d_products, floor, 1, above);
    write_products(d_products, floor, 0, below);
  }
};

/// Rows that may be read in whole vectors: as they stand, or a copy.
inline Rows whole_vectors(const Rows& from, Index rows, Index width, Real* copy) {
  if (width % lane_count() == 0) return from;
  const Index padded = Carver::rounded(width);
  for (Index row = 0; row < rows; ++row) {
    std::copy_n(from.first + row * from.stride, width, copy + row * padded);
    std::fill_n(copy + row * padded + width, padded - width, Real{0});
  }
  return {copy, padded};
}

inline void scale_products(Real* products, Index rows, Real factor) {
  const Lanes d;
  for (Index n = 0; n < rows * attention_tile_rows; n += lane_count()) {
    hn::Store(hn::Mul(hn::Set(d, factor), hn::Load(d, products + n)), d, products + n);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

// The small products of one attention tile. Included once for every instruction set.
//
// All five (scores, output, and the three of the gradient) have the form C (+)= A B with B and C row-major
// and a multiple of the vector width wide, and the elements of A taken one by one, so A may lie either way
// round and nothing is ever packed. A block of C stays in registers while the whole depth is summed; the
// order of the sum is that of the depth, so the result does not depend on the blocks.
#if defined(TAPELINE_ATTENTION_PRODUCTS) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_ATTENTION_PRODUCTS
#undef TAPELINE_ATTENTION_PRODUCTS
#else
#define TAPELINE_ATTENTION_PRODUCTS
#endif

#include "core/kernels/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<Real, 64 / sizeof(Real)>;
HWY_INLINE Index lane_count() { return static_cast<Index>(hn::Lanes(Lanes())); }

/// Where element (row, depth) of A stands: depths side by side and rows `stride` apart, or the other way
/// round.
enum class Layout { depth_adjacent, rows_adjacent };
enum class Into { overwrite, add };

// The block of C that stays in registers. Sanitizers check every access of the unrolled code, which would
// take minutes to compile; the values are the same for every block.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int widest_block = 2;
constexpr int block_rows(int) { return 4; }
#elif HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
inline constexpr int widest_block = 2;  // 16 vector registers
constexpr int block_rows(int) { return 6; }
#else
inline constexpr int widest_block = 4;  // 32 vector registers
constexpr int block_rows(int vectors) { return vectors == 4 ? 6 : 8; }
#endif

/// C[rows, vectors] (+)= A[rows, depth] B[depth, vectors].
template <Layout layout, Into into, int rows, int vectors>
HWY_NOINLINE void product_block(const Real* HWY_RESTRICT a, Index stride, Index depth,
                                const Real* HWY_RESTRICT b, Index ldb, Real* HWY_RESTRICT c, Index ldc) {
  const Lanes d;
  const Index lanes = lane_count();
  hn::Vec<Lanes> sums[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) {
      if constexpr (into == Into::add) {
        sums[r][v] = hn::LoadU(d, c + r * ldc + v * lanes);
      } else {
        sums[r][v] = hn::Zero(d);
      }
    }
  }
  for (Index k = 0; k < depth; ++k) {
    hn::Vec<Lanes> row_of_b[vectors];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) row_of_b[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const auto element = hn::Set(d, layout == Layout::rows_adjacent ? a[r] : a[r * stride]);
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(element, row_of_b[v], sums[r][v]);
    }
    a += layout == Layout::rows_adjacent ? stride : 1;
    b += ldb;
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) hn::StoreU(sums[r][v], d, c + r * ldc + v * lanes);
  }
}

template <Layout layout, Into into, int vectors>
void product_columns(const Real* a, Index stride, Index rows, Index depth, const Real* b, Index ldb, Real* c,
                     Index ldc) {
  constexpr int most = block_rows(vectors);
  const Index step = layout == Layout::rows_adjacent ? 1 : stride;
  Index row = 0;
  for (; row + most <= rows; row += most) {
    product_block<layout, into, most, vectors>(a + row * step, stride, depth, b, ldb, c + row * ldc, ldc);
  }
  if (rows - row >= 4) {  // what bands of 16 rows leave over
    product_block<layout, into, 4, vectors>(a + row * step, stride, depth, b, ldb, c + row * ldc, ldc);
    row += 4;
  }
  for (; row < rows; ++row) {
    product_block<layout, into, 1, vectors>(a + row * step, stride, depth, b, ldb, c + row * ldc, ldc);
  }
}

/// C[rows, vectors * lanes] (+)= A[rows, depth] B[depth, vectors * lanes].
template <Layout layout, Into into>
void multiply(const Real* a, Index stride, Index rows, Index depth, const Real* b, Index ldb, Real* c,
              Index ldc, Index vectors) {
  const Index lanes = lane_count();
  for (; vectors >= widest_block; vectors -= widest_block) {
    product_columns<layout, into, widest_block>(a, stride, rows, depth, b, ldb, c, ldc);
    b += widest_block * lanes;
    c += widest_block * lanes;
  }
  if constexpr (widest_block > 2) {
    if (vectors == 3) product_columns<layout, into, 3>(a, stride, rows, depth, b, ldb, c, ldc);
    if (vectors == 2) product_columns<layout, into, 2>(a, stride, rows, depth, b, ldb, c, ldc);
  }
  if (vectors == 1) product_columns<layout, into, 1>(a, stride, rows, depth, b, ldb, c, ldc);
}

/// to[column, row] = from[row, column] * (factors ? factors[row] : 1) for rows x columns numbers; columns of
/// `to` from `rows` to `padded_rows` become 0.
inline void transpose(const Real* from, Index from_stride, Index rows, Index columns, const Real* factors,
                      Real* to, Index to_stride, Index padded_rows) {
  Index row = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr Index side = 16 / sizeof(Real);
  const hn::FixedTag<Real, side> d;
  for (; row + side <= rows; row += side) {
    const auto factor = factors == nullptr ? hn::Set(d, Real{1}) : hn::LoadU(d, factors + row);
    const Real* const block = from + row * from_stride;
    Index column = 0;
    for (; column + side <= columns; column += side) {
      const Real* const place = block + column;
      Real* const out = to + column * to_stride + row;
      if constexpr (side == 4) {
        const auto row0 = hn::LoadU(d, place), row1 = hn::LoadU(d, place + from_stride);
        const auto row2 = hn::LoadU(d, place + 2 * from_stride), row3 = hn::LoadU(d, place + 3 * from_stride);
        const auto low02 = hn::InterleaveLower(d, row0, row2), high02 = hn::InterleaveUpper(d, row0, row2);
        const auto low13 = hn::InterleaveLower(d, row1, row3), high13 = hn::InterleaveUpper(d, row1, row3);
        hn::StoreU(hn::Mul(factor, hn::InterleaveLower(d, low02, low13)), d, out);
        hn::StoreU(hn::Mul(factor, hn::InterleaveUpper(d, low02, low13)), d, out + to_stride);
        hn::StoreU(hn::Mul(factor, hn::InterleaveLower(d, high02, high13)), d, out + 2 * to_stride);
        hn::StoreU(hn::Mul(factor, hn::InterleaveUpper(d, high02, high13)), d, out + 3 * to_stride);
      } else {
        const auto row0 = hn::LoadU(d, place), row1 = hn::LoadU(d, place + from_stride);
        hn::StoreU(hn::Mul(factor, hn::InterleaveLower(d, row0, row1)), d, out);
        hn::StoreU(hn::Mul(factor, hn::InterleaveUpper(d, row0, row1)), d, out + to_stride);
      }
    }
    for (; column < columns; ++column) {
      for (Index r = 0; r < side; ++r) {
        to[column * to_stride + row + r] =
            block[r * from_stride + column] * (factors == nullptr ? Real{1} : factors[row + r]);
      }
    }
  }
#endif
  for (Index column = 0; column < columns; ++column) {
    Real* const out = to + column * to_stride;
    for (Index r = row; r < rows; ++r) {
      out[r] = from[r * from_stride + column] * (factors == nullptr ? Real{1} : factors[r]);
    }
    for (Index r = rows; r < padded_rows; ++r) out[r] = 0;
  }
}

inline Real dot(const Real* a, const Real* b, Index count) {
  const Lanes d;
  auto sums = hn::Zero(d);
  Index n = 0;
  for (; n + lane_count() <= count; n += lane_count()) {
    sums = hn::MulAdd(hn::LoadU(d, a + n), hn::LoadU(d, b + n), sums);
  }
  Real sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; n < count; ++n) sum += a[n] * b[n];
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

#include "core/kernels/rows.h"

#include <algorithm>

#include "core/kernels/instruction_sets.h"
#include "core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/rows.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

void add_row_to(const Real* x, const Real* row, Index rows, Index width, Real* out) {
  for (Index r = 0; r < rows; ++r) {
    const Index begin = r * width;
    for_each_vector(width, [&](auto lanes, Index j) HWY_ATTR {
      lanes.store(hn::Add(lanes.load(x + begin + j), lanes.load(row + j)), out + begin + j);
    });
  }
}

// total[j] += the sum over rows of x[row, j]. Four rows at a time: the total is read and written less often.
void add_columns(const Real* x, Index rows, Index width, Real* total) {
  Index row = 0;
  for (; row + 4 <= rows; row += 4) {
    const Real* first = x + row * width;
    for_each_vector(width, [&](auto lanes, Index j) HWY_ATTR {
      const auto low = hn::Add(lanes.load(first + j), lanes.load(first + width + j));
      const auto high = hn::Add(lanes.load(first + 2 * width + j), lanes.load(first + 3 * width + j));
      lanes.store(hn::Add(lanes.load(total + j), hn::Add(low, high)), total + j);
    });
  }
  for (; row < rows; ++row) {
    for_each_vector(width, [&](auto lanes, Index j) HWY_ATTR {
      lanes.store(hn::Add(lanes.load(total + j), lanes.load(x + row * width + j)), total + j);
    });
  }
}

// x becomes x times factors; total, where given, gets the sum over rows of the new x added.
void multiply_and_add_columns(const Real* factors, Index rows, Index width, Real* x, Real* total) {
  for (Index row = 0; row < rows; ++row) {
    const Index begin = row * width;
    for_each_vector(width, [&](auto lanes, Index j) HWY_ATTR {
      const auto product = hn::Mul(lanes.load(x + begin + j), lanes.load(factors + begin + j));
      lanes.store(product, x + begin + j);
      if (total != nullptr) lanes.store(hn::Add(lanes.load(total + j), product), total + j);
    });
  }
}

void scaled_add_range(const Real* x, Index count, Real factor, Real beta, Real* out) {
  const auto factors = hn::Set(RealTag(), factor);
  if (beta == Real{0}) {
    for_each_vector(count, [&](auto lanes, Index i)
                               HWY_ATTR { lanes.store(hn::Mul(lanes.load(x + i), factors), out + i); });
  } else {
    const auto betas = hn::Set(RealTag(), beta);
    for_each_vector(count, [&](auto lanes, Index i) HWY_ATTR {
      const auto old = hn::Mul(lanes.load(out + i), betas);
      lanes.store(hn::MulAdd(lanes.load(x + i), factors, old), out + i);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tapeline::inline TAPELINE_PRECISION {

HWY_EXPORT(add_row_to);
HWY_EXPORT(add_columns);
HWY_EXPORT(multiply_and_add_columns);
HWY_EXPORT(scaled_add_range);

namespace {
constexpr Index numbers_a_share = 1 << 14;
Index row_grain(Index width) { return std::max<Index>(1, numbers_a_share / std::max<Index>(1, width)); }
}  // namespace

void fill_rows(const Real* row, Index rows, Index width, Real* out) {
  parallel_for(rows, row_grain(width), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) std::copy_n(row, width, out + r * width);
  });
}

void add_row(const Real* x, const Real* row, Index rows, Index width, Real* out) {
  parallel_for(rows, row_grain(width), [&](Index begin, Index end) {
    const Real* const from = x + begin * width;
    if (row == nullptr) {
      std::copy_n(from, (end - begin) * width, out + begin * width);
    } else {
      HWY_DYNAMIC_DISPATCH(add_row_to)(from, row, end - begin, width, out + begin * width);
    }
  });
}

Index column_sums_scratch(Index width) { return thread_count() * width; }

void column_sums(const Real* x, Index rows, Index width, Real beta, Real* out, Real* scratch) {
  const int workers = parallel_shares(rows, row_grain(width), [&](int worker, Index begin, Index end) {
    Real* partial = scratch + worker * width;
    std::fill_n(partial, width, Real{0});
    HWY_DYNAMIC_DISPATCH(add_columns)(x + begin * width, end - begin, width, partial);
  });
  add_partial_sums(scratch, workers, width, beta, out);
}

void multiply_and_sum_columns(const Real* factors, Index rows, Index width, Real* x, Real beta, Real* sums,
                              Real* scratch) {
  const int workers = parallel_shares(rows, row_grain(width), [&](int worker, Index begin, Index end) {
    Real* partial = sums == nullptr ? nullptr : scratch + worker * width;
    if (partial != nullptr) std::fill_n(partial, width, Real{0});
    HWY_DYNAMIC_DISPATCH(multiply_and_add_columns)
    (factors + begin * width, end - begin, width, x + begin * width, partial);
  });
  if (sums != nullptr) add_partial_sums(scratch, workers, width, beta, sums);
}

void scaled_add(const Real* x, Index count, Real factor, Real beta, Real* out) {
  parallel_for(count, numbers_a_share, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(scaled_add_range)(x + begin, end - begin, factor, beta, out + begin);
  });
}

void add_partial_sums(const Real* partials, int workers, Index width, Real beta, Real* total) {
  for (Index j = 0; j < width; ++j) {
    Real sum = 0;
    for (int worker = 0; worker < workers; ++worker) sum += partials[worker * width + j];
    total[j] = beta == Real{0} ? sum : beta * total[j] + sum;
  }
}

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif

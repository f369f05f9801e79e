#pragma once

#include "core/real.h"

/// Work on the rows and columns of a matrix [rows, width] that accompanies products.
namespace tapeline::inline TAPELINE_PRECISION {

/// Every row of `out` becomes `row` [width].
void fill_rows(const Real* row, Index rows, Index width, Real* out);

/// out = x + `row` [width], every row of it; a null `row` is zeros.
void add_row(const Real* x, const Real* row, Index rows, Index width, Real* out);

/// How many numbers of scratch column_sums needs.
Index column_sums_scratch(Index width);
/// out = beta out + the sum over rows of `x` [rows, width]; one partial sum a worker, added in worker order.
void column_sums(const Real* x, Index rows, Index width, Real beta, Real* out, Real* scratch);

/// x becomes x times `factors`, element by element, both [rows, width]; where `sums` [width] is given, it
/// becomes beta sums + the sum over rows of the new x, as column_sums() would make it.
void multiply_and_sum_columns(const Real* factors, Index rows, Index width, Real* x, Real beta, Real* sums,
                              Real* scratch);

/// out = beta out + factor x, `count` numbers; with beta 0 the old `out` is not read.
void scaled_add(const Real* x, Index count, Real factor, Real beta, Real* out);

/// `total` = beta total + the partial sums of workers 0, 1, ... in this order, each [width].
void add_partial_sums(const Real* partials, int workers, Index width, Real beta, Real* total);

}  // namespace tapeline::inline TAPELINE_PRECISION

#pragma once

#include "core/index.h"

namespace tapeline {

/// C = op(A) op(B) + beta C, row-major. op(A) [m, k], op(B) [k, n], C [m, n]; a leading dimension is the
/// number of columns of the matrix as stored. beta is 0 or 1; with beta 0 the old C is not read.
template <class T>
struct MatrixProduct {
  bool transpose_a = false, transpose_b = false;
  Index m = 0, n = 0, k = 0;
  const T* a = nullptr;
  Index lda = 0;
  const T* b = nullptr;
  Index ldb = 0;
  T beta = 0;
  T* c = nullptr;
  Index ldc = 0;

  /// The same product for rows [begin, end) of C only.
  MatrixProduct rows(Index begin, Index end) const {
    MatrixProduct part = *this;
    part.m = end - begin;
    part.a = a + begin * (transpose_a ? 1 : lda);
    part.c = c + begin * ldc;
    return part;
  }
};

}  // namespace tapeline

#pragma once

#include <algorithm>

#include "core/kernels/matrix_product.h"

namespace tapeline {

/// The product as a blocked loop: the reference for the libraries, and the only one in builds for the thread
/// sanitizer.
template <class T>
void plain_gemm(const MatrixProduct<T>& p) {
  constexpr Index block = 64;  // rows of op(B) that are used again for every row of C before they leave cache
  if (p.beta == T{0}) {
    for (Index i = 0; i < p.m; ++i) std::fill_n(p.c + i * p.ldc, p.n, T{0});
  }
  for (Index first = 0; first < p.k; first += block) {
    const Index last = std::min(p.k, first + block);
    for (Index i = 0; i < p.m; ++i) {
      T* row = p.c + i * p.ldc;
      if (p.transpose_b) {
        for (Index j = 0; j < p.n; ++j) {
          T sum = 0;
          for (Index l = first; l < last; ++l)
            sum += (p.transpose_a ? p.a[l * p.lda + i] : p.a[i * p.lda + l]) * p.b[j * p.ldb + l];
          row[j] += sum;
        }
      } else {
        for (Index l = first; l < last; ++l) {
          const T factor = p.transpose_a ? p.a[l * p.lda + i] : p.a[i * p.lda + l];
          const T* other = p.b + l * p.ldb;
          for (Index j = 0; j < p.n; ++j) row[j] += factor * other[j];
        }
      }
    }
  }
}

}  // namespace tapeline

#pragma once

#include <string>

#include "core/kernels/matrix_product.h"

namespace tapeline {

/// What the loaded oneDNN says of itself.
struct OneDnnInfo {
  std::string version;          ///< "2.6.3"
  std::string runtime;          ///< whose threads it uses: "openmp", "serial", "tbb", "threadpool"
  std::string instruction_set;  ///< what its kernels are made for here: "avx512", "avx2", ...
};
OneDnnInfo onednn_info();

/// Whether its products are compiled for this machine's vectors (x86-64 with AVX2 or better). Elsewhere they
/// are a plain loop and OpenBLAS is the better choice.
bool onednn_is_vectorised();
/// Whether they are compiled for AVX-512.
bool onednn_has_avx512();

/// The product by dnnl_sgemm, with OpenMP's threads; inside a parallel region on the calling thread alone.
/// All extents at least 1. There is no f64 there. Throws Error when oneDNN reports a failure.
void onednn_gemm(const MatrixProduct<float>& product);

}  // namespace tapeline

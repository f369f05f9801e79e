#pragma once

#include <string>

#include "core/kernels/matrix_product.h"

namespace tapeline {

/// What the loaded OpenBLAS says of itself.
struct OpenBlasInfo {
  std::string config;   ///< version, options and kernel set: "OpenBLAS 0.3.21 ... Haswell MAX_THREADS=64"
  std::string flavour;  ///< "openmp", "pthread" or "serial"
  std::string file;     ///< the library file that was loaded
  int threads = 1;      ///< how many it may use now
};
OpenBlasInfo openblas_info();

/// One line for the user when the loaded OpenBLAS has a thread pool of its own (the pthread flavour), which
/// beside OpenMP's slows training several times: what is wrong, what is done, what mends it. Empty when all
/// is well. Such a library is run on one thread.
std::string openblas_warning();

/// Throws MemoryError where a limit of address space leaves no room for OpenBLAS's buffers, one a thread: it
/// would ask for them without end.
void require_room_for_openblas();

/// The product by cblas_sgemm or cblas_dgemm, with thread_count() threads; inside a parallel region on the
/// calling thread alone. All extents at least 1. Throws ShapeError for an extent beyond 32 bits, MemoryError
/// where the first call finds no room for OpenBLAS's buffers.
void openblas_gemm(const MatrixProduct<float>& product);
void openblas_gemm(const MatrixProduct<double>& product);

}  // namespace tapeline

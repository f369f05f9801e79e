#pragma once

#include "core/kernels/matrix_product.h"
#include "core/real.h"

namespace tapeline {

enum class GemmLibrary { openblas, onednn, plain };

/// Who splits the work: the library's own threads, or we by rows of C with a serial call for each share.
enum class GemmSplit { library, rows };

/// Which library serves a product, and who splits it.
struct GemmChoice {
  GemmLibrary library = GemmLibrary::openblas;
  GemmSplit split = GemmSplit::library;
};

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

using Gemm = MatrixProduct<Real>;

/// A rule on shape, instruction set and thread count, never on a clock, so the same command gives the same
/// bits.
GemmChoice choose_gemm(const Gemm& product);

/// By the rule. Inside a parallel region: on the calling thread alone. Empty products are exact: with k = 0,
/// C becomes beta C.
void gemm(const Gemm& product);
/// By the named choice (benchmarks, tests). Throws ConfigError where the library is not in this build or
/// precision.
void gemm(const Gemm& product, GemmChoice choice);

}  // namespace tapeline::inline TAPELINE_PRECISION

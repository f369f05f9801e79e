#include "core/kernels/gemm.h"

#include <algorithm>
#include <type_traits>

#include "core/error.h"
#include "core/kernels/onednn.h"
#include "core/kernels/openblas.h"
#include "core/kernels/plain_gemm.h"
#include "core/parallel.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr bool single_precision = std::is_same_v<Real, float>;
#if defined(TAPELINE_STD_THREADS)
constexpr bool vendors = false;
#else
constexpr bool vendors = true;
#endif

// Below this many multiplications a call of oneDNN costs more than it gains over OpenBLAS.
constexpr Index small_product = 32 * 32 * 32;
// A share of fewer rows packs op(B) once more for too little work.
constexpr Index fewest_rows = 16;
// Rows of A that begin this many bytes apart, or a multiple of it, fall into the same few lines of a cache.
constexpr Index page_bytes = 4096;
// Below this many multiplications the library decides better than we whether threads pay.
constexpr Index split_from = Index{1} << 19;

template <class T>
void run(const MatrixProduct<T>& product, GemmLibrary library) {
  if (library == GemmLibrary::plain) return plain_gemm(product);
  if constexpr (vendors) {
    if (library == GemmLibrary::openblas) return openblas_gemm(product);
    if constexpr (std::is_same_v<T, float>) return onednn_gemm(product);
  }
}

// oneDNN's AVX2 kernels are behind those of OpenBLAS where they copy A across its rows, or along rows a page
// apart.
bool suits_onednn(const Gemm& product) {
  if (onednn_has_avx512()) return true;
  return !product.transpose_a && product.lda * static_cast<Index>(sizeof(Real)) % page_bytes != 0;
}

void check_available(GemmLibrary library) {
  require<ConfigError>(vendors || library == GemmLibrary::plain,
                       "gemm: this build (TAPELINE_STD_THREADS) has the plain loop only");
  require<ConfigError>(single_precision || library != GemmLibrary::onednn,
                       "gemm: oneDNN has no product in double precision; use OpenBLAS");
}

}  // namespace

// Measured on two cores over the products of a training step, tokens 2048, widths 128, 256, 384, forward and
// both gradients. With AVX-512 (Zen 5) oneDNN gives about 330 GFLOP/s against 165 of OpenBLAS's Haswell
// kernels. With AVX2 (Zen 3) it leads by 10 to 20 % for X W^T and dY W, 170 GFLOP/s, and is behind by as
// much, once by half, for dW = dY^T X, and where A has rows of 1024 numbers.
// Rows split by us are never behind the library's own split from 2^19 multiplications up, and well ahead for
// OpenBLAS (f64) and for short k; below, starting threads costs more than the product.
GemmChoice choose_gemm(const Gemm& product) {
  if constexpr (!vendors) return {GemmLibrary::plain, GemmSplit::rows};
  const Index work = product.m * product.n * product.k;
  GemmChoice choice;
  if (single_precision && onednn_is_vectorised() && (work > small_product || product.m < 8) &&
      suits_onednn(product)) {
    choice.library = GemmLibrary::onednn;
  }
  const int threads = thread_count();
  if (threads > 1 && work >= split_from && product.m >= fewest_rows * threads) choice.split = GemmSplit::rows;
  return choice;
}

void gemm(const Gemm& product) { gemm(product, choose_gemm(product)); }

void gemm(const Gemm& product, GemmChoice choice) {
  check_available(choice.library);
  if (product.m == 0 || product.n == 0) return;
  if (product.k == 0) {
    if (product.beta == Real{0}) {
      for (Index i = 0; i < product.m; ++i) std::fill_n(product.c + i * product.ldc, product.n, Real{0});
    }
    return;
  }
  if (choice.split == GemmSplit::library) return run(product, choice.library);
  parallel_for(product.m, fewest_rows,
               [&](Index begin, Index end) { run(product.rows(begin, end), choice.library); });
}

}  // namespace tapeline::inline TAPELINE_PRECISION

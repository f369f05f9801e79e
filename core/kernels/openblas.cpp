#include "core/kernels/openblas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/vendor_call.h"

namespace tapeline {

namespace {

// What openblas_get_parallel() answers.
constexpr int own_threads = 1;
constexpr int openmp_threads = 2;

bool has_own_threads() {
  static const bool result = openblas_get_parallel() == own_threads;
  return result;
}

// OpenBLAS keeps a thread count of its own, and once it is 1 no longer looks at OpenMP's.
void follow_thread_count() {
  if (in_parallel_region()) return;
  const int wanted = has_own_threads() ? 1 : thread_count();
  if (openblas_get_num_threads() != wanted) openblas_set_num_threads(wanted);
}

template <class T>
void check_extents(const MatrixProduct<T>& p) {
  constexpr Index most = std::numeric_limits<blasint>::max();
  const Index largest = std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc});
  require<ShapeError>(largest <= most, "gemm: an extent is {}; OpenBLAS takes at most {}", largest, most);
}

template <class T>
void prepare(const MatrixProduct<T>& p) {
  check_extents(p);
  [[maybe_unused]] static const bool room = (require_room_for_openblas(), true);
}

CBLAS_TRANSPOSE transposed(bool yes) { return yes ? CblasTrans : CblasNoTrans; }
blasint narrow(Index extent) { return static_cast<blasint>(extent); }

}  // namespace

OpenBlasInfo openblas_info() {
  OpenBlasInfo info;
  info.config = openblas_get_config();
  while (!info.config.empty() && info.config.back() == ' ') info.config.pop_back();
  const int parallel = openblas_get_parallel();
  info.flavour = parallel == openmp_threads ? "openmp" : parallel == own_threads ? "pthread" : "serial";
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(&openblas_get_config), &where) != 0 && where.dli_fname != nullptr)
    info.file = where.dli_fname;
  follow_thread_count();
  info.threads = openblas_get_num_threads();
  return info;
}

std::string openblas_warning() {
  if (!has_own_threads()) return {};
  return fmt::format(
      "OpenBLAS at {} is the pthread flavour, whose thread pool fights OpenMP's; it is run on one thread; "
      "install libopenblas-openmp-dev and take it out of LD_LIBRARY_PATH",
      openblas_info().file);
}

void require_room_for_openblas() {
  constexpr std::size_t buffer_bytes = std::size_t{128} << 20;
  const std::size_t wanted = buffer_bytes * static_cast<std::size_t>(thread_count());
  void* const room = ::mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require<MemoryError>(room != MAP_FAILED,
                       "OpenBLAS needs {} MB of address space for its buffers, and the limit of this process "
                       "(ulimit -v) leaves less; raise it",
                       wanted >> 20);
  ::munmap(room, wanted);
}

void openblas_gemm(const MatrixProduct<float>& p) {
  prepare(p);
  const VendorCall call;
  follow_thread_count();
  cblas_sgemm(CblasRowMajor, transposed(p.transpose_a), transposed(p.transpose_b), narrow(p.m), narrow(p.n),
              narrow(p.k), 1.0F, p.a, narrow(p.lda), p.b, narrow(p.ldb), p.beta, p.c, narrow(p.ldc));
}

void openblas_gemm(const MatrixProduct<double>& p) {
  prepare(p);
  const VendorCall call;
  follow_thread_count();
  cblas_dgemm(CblasRowMajor, transposed(p.transpose_a), transposed(p.transpose_b), narrow(p.m), narrow(p.n),
              narrow(p.k), 1.0, p.a, narrow(p.lda), p.b, narrow(p.ldb), p.beta, p.c, narrow(p.ldc));
}

}  // namespace tapeline

#include "core/kernels/onednn.h"

#include <oneapi/dnnl/dnnl.h>

#include "core/error.h"
#include "core/vendor_call.h"

namespace tapeline {

namespace {

/// Each set's number has the bits of those it contains.
bool isa_contains(unsigned set) { return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & set) == set; }

}  // namespace

OneDnnInfo onednn_info() {
  const dnnl_version_t& v = *dnnl_version();
  OneDnnInfo info;
  info.version = fmt::format("{}.{}.{}", v.major, v.minor, v.patch);
  info.runtime = v.cpu_runtime == DNNL_RUNTIME_OMP   ? "openmp"
                 : v.cpu_runtime == DNNL_RUNTIME_SEQ ? "serial"
                 : v.cpu_runtime == DNNL_RUNTIME_TBB ? "tbb"
                                                     : "threadpool";
  info.instruction_set = isa_contains(dnnl_cpu_isa_avx512_core) ? "avx512"
                         : isa_contains(dnnl_cpu_isa_avx2)      ? "avx2"
                         : isa_contains(dnnl_cpu_isa_avx)       ? "avx"
                         : isa_contains(dnnl_cpu_isa_sse41)     ? "sse4.1"
                                                                : "none";
  return info;
}

bool onednn_is_vectorised() {
#if defined(__x86_64__)
  static const bool result = isa_contains(dnnl_cpu_isa_avx2);
  return result;
#else
  return false;
#endif
}

bool onednn_has_avx512() {
#if defined(__x86_64__)
  static const bool result = isa_contains(dnnl_cpu_isa_avx512_core);
  return result;
#else
  return false;
#endif
}

void onednn_gemm(const MatrixProduct<float>& p) {
  const VendorCall call;
  const dnnl_status_t status = dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k,
                                          1.0F, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
  require<Error>(status == dnnl_success,
                 "gemm: oneDNN refused a product with m = {}, n = {}, k = {}, status {}; please report it",
                 p.m, p.n, p.k, static_cast<int>(status));
}

}  // namespace tapeline

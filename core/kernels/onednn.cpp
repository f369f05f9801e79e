#include "core/kernels/onednn.h"

#include <oneapi/dnnl/dnnl.h>

#include "core/error.h"
#include "core/vendor_call.h"

namespace tapeline {

OneDnnInfo onednn_info() {
  const dnnl_version_t& v = *dnnl_version();
  OneDnnInfo info;
  info.version = fmt::format("{}.{}.{}", v.major, v.minor, v.patch);
  info.runtime = v.cpu_runtime == DNNL_RUNTIME_OMP   ? "openmp"
                 : v.cpu_runtime == DNNL_RUNTIME_SEQ ? "serial"
                 : v.cpu_runtime == DNNL_RUNTIME_TBB ? "tbb"
                                                     : "threadpool";
  // Each set's number has the bits of those it contains.
  const unsigned isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
  const auto contains = [isa](unsigned set) { return (isa & set) == set; };
  info.instruction_set = contains(dnnl_cpu_isa_avx512_core) ? "avx512"
                         : contains(dnnl_cpu_isa_avx2)      ? "avx2"
                         : contains(dnnl_cpu_isa_avx)       ? "avx"
                         : contains(dnnl_cpu_isa_sse41)     ? "sse4.1"
                                                            : "none";
  return info;
}

bool onednn_is_vectorised() {
#if defined(__x86_64__)
  static const bool result =
      (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & dnnl_cpu_isa_avx2) == dnnl_cpu_isa_avx2;
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

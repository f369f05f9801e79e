#pragma once

#include <span>
#include <string_view>

#include "core/kernels/gemm.h"

namespace tapeline {

/// One way to compute a product, and what to call it.
struct NamedChoice {
  GemmChoice choice;
  std::string_view name;  ///< "OpenBLAS, rows split"
};

/// All ways of this build: every library, with its own threads and with rows split by us.
std::span<const NamedChoice> gemm_choices();
/// One a library, for calls from inside a parallel region: each on one thread.
std::span<const NamedChoice> serial_gemm_choices();

/// "openblas", "onednn", "plain".
std::string_view library_name(GemmLibrary library);
/// "library", "rows".
std::string_view split_name(GemmSplit split);

}  // namespace tapeline

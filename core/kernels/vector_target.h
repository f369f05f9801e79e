#pragma once

#include <string>

namespace tapeline {

/// The Highway library that our own vector code is made with, and which of its compiled versions runs here.
struct VectorTarget {
  std::string version;  ///< "1.0.3"
  std::string target;   ///< "AVX3" (that is AVX-512), "AVX2", "SSE4", "EMU128" (no vectors), "NEON", ...
};
VectorTarget vector_target();

}  // namespace tapeline

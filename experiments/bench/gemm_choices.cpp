#include "experiments/bench/gemm_choices.h"

#include <array>

namespace tapeline {

#if defined(TAPELINE_STD_THREADS)

std::span<const NamedChoice> gemm_choices() {
  static constexpr std::array<NamedChoice, 1> all = {
      {{{GemmLibrary::plain, GemmSplit::rows}, "plain loop, rows split"}}};
  return all;
}

std::span<const NamedChoice> serial_gemm_choices() {
  static constexpr std::array<NamedChoice, 1> all = {
      {{{GemmLibrary::plain, GemmSplit::library}, "plain loop"}}};
  return all;
}

#else

std::span<const NamedChoice> gemm_choices() {
  static constexpr std::array<NamedChoice, 4> all = {
      {{{GemmLibrary::openblas, GemmSplit::library}, "OpenBLAS, its own threads"},
       {{GemmLibrary::openblas, GemmSplit::rows}, "OpenBLAS, rows split"},
       {{GemmLibrary::onednn, GemmSplit::library}, "oneDNN, its own threads"},
       {{GemmLibrary::onednn, GemmSplit::rows}, "oneDNN, rows split"}}};
  return all;
}

std::span<const NamedChoice> serial_gemm_choices() {
  static constexpr std::array<NamedChoice, 2> all = {
      {{{GemmLibrary::openblas, GemmSplit::library}, "OpenBLAS"},
       {{GemmLibrary::onednn, GemmSplit::library}, "oneDNN"}}};
  return all;
}

#endif

std::string_view library_name(GemmLibrary library) {
  switch (library) {
    case GemmLibrary::openblas:
      return "openblas";
    case GemmLibrary::onednn:
      return "onednn";
    case GemmLibrary::plain:
      return "plain";
  }
  return "?";
}

std::string_view split_name(GemmSplit split) { return split == GemmSplit::rows ? "rows" : "library"; }

}  // namespace tapeline

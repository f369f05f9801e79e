#include "experiments/doctor/build.h"

#include <fmt/format.h>

#include "layers/positional/kinds_of_build.h"

namespace tapeline {
namespace {

constexpr bool checked_build() {
#if defined(NDEBUG)
  return false;
#else
  return true;
#endif
}

constexpr bool plain_products() {
#if defined(TAPELINE_STD_THREADS)
  return true;
#else
  return false;
#endif
}

Finding program() {
  const std::string version = fmt::format("tapeline {}, compiled by {} {}", TAPELINE_VERSION,
#if defined(__clang__)
                                          "clang", __clang_version__
#else
                                          "gcc", __VERSION__
#endif
  );
  if (plain_products())
    return {"program", Finding::State::problem,
            version + ", for the thread sanitizer: matrix products are plain loops, many times slower",
            "cmake --preset release && cmake --build --preset release"};
  if (checked_build())
    return {"program", Finding::State::note, version + ", a debug build: slower",
            "cmake --preset release && cmake --build --preset release"};
  return all_well("program", version);
}

}  // namespace

Findings examine_build() { return {program(), all_well("positional", built_kinds_text())}; }

}  // namespace tapeline

#include "core/kernels/vector_target.h"

#include <fmt/format.h>

#include "core/kernels/instruction_sets.h"
// Needs the sets before it.
#include <hwy/highway.h>

namespace tapeline {

VectorTarget vector_target() {
  // A better target has a lower bit; dispatch takes the best that is both compiled in and supported.
  const auto usable = hwy::SupportedTargets() & HWY_TARGETS;
  return {fmt::format("{}.{}.{}", HWY_MAJOR, HWY_MINOR, HWY_PATCH), hwy::TargetName(usable & -usable)};
}

}  // namespace tapeline

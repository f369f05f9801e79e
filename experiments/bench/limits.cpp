#include "experiments/bench/limits.h"

#include "core/error.h"
#include "core/memory.h"

namespace tapeline {

void require_room(std::string_view what, double bytes) {
  const double machine = physical_memory_bytes();
  require<ConfigError>(bytes < usable_memory_bytes(),
                       "{} takes about {:.1f} GB, this machine has {:.1f} GB; make it shorter, or the model "
                       "smaller",
                       what, bytes / 1e9, machine / 1e9);
}

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

void require_length(const Transformer& model, std::string_view what, Index length) {
  const std::optional<Index> limit = model.max_length();
  const std::string& kind = model.plan().positional.kind;
  require<ConfigError>(
      !limit || length <= *limit,
      "{}: {} positions end at row {}, and {} rows are wanted; make it shorter, or the table "
      "longer (positional.{}.rows)",
      what, kind, limit.value_or(0), length, kind);
}

}  // namespace tapeline::inline TAPELINE_PRECISION

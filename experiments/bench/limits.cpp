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
  const std::string& by = model.limited_by();
  require<ConfigError>(!limit || length <= *limit,
                       "{}: {} positions end at row {}, and {} rows are wanted; make it shorter, or {}", what,
                       by, limit.value_or(0), length,
                       by == "randomized" ? "positional.randomized.maximum larger"
                                          : fmt::format("the table longer (positional.{}.rows)", by));
}

}  // namespace tapeline::inline TAPELINE_PRECISION

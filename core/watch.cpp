#include "core/watch.h"

#include <chrono>

#include "core/error.h"

namespace tapeline {

namespace {

std::int64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

}  // namespace

std::string_view phase_name(Phase phase) {
  switch (phase) {
    case Phase::data:
      return "data";
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
    default:
      return "step";
  }
}

// The clock is read last at a beginning and first at an end: keeping a timing is not part of it.
void Watch::begin(Timing::Kind kind, Phase phase, std::string_view name, Index number) {
  Timing& timing = timings_.emplace_back();
  timing.name = name;
  timing.kind = kind;
  timing.phase = phase;
  timing.number = number;
  timing.parent = open_;
  open_ = static_cast<Index>(timings_.size()) - 1;
  timing.begin = now();
}

void Watch::end() {
  const std::int64_t time = now();
  if (open_ < 0) return;
  Timing& timing = timings_[static_cast<std::size_t>(open_)];
  timing.end = time;
  open_ = timing.parent;
}

void Watch::describe(const Shape& shape, Index flops, Index bytes, std::string_view parameter) {
  if (open_ < 0) return;
  Timing& timing = timings_[static_cast<std::size_t>(open_)];
  if (timing.kind != Timing::Kind::op) return;
  timing.shape = shape;
  timing.flops += flops;
  timing.bytes += bytes;
  if (timing.parameter.empty()) timing.parameter = parameter;
}

void Watch::clear() {
  require<StateError>(open_ < 0, "watch: \"{}\" has not ended; clear it between steps",
                      open_ < 0 ? "" : timings_[static_cast<std::size_t>(open_)].name);
  timings_.clear();
}

}  // namespace tapeline

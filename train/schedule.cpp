#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"

namespace tapeline {

Schedule::Schedule(const ScheduleConfig& config, double peak, Index updates)
    : peak_(peak), floor_(config.floor * peak), updates_(updates) {
  require<ConfigError>(config.kind == "cosine",
                       "schedule.kind is \"{}\", which this version does not have; it has \"cosine\"",
                       config.kind);
  require<ConfigError>(config.warmup >= 0 && config.warmup <= 1,
                       "schedule.warmup is {}; it is a share of the steps, from 0 to 1", config.warmup);
  require<ConfigError>(config.floor >= 0 && config.floor <= 1,
                       "schedule.floor is {}; it is a share of the peak rate, from 0 to 1", config.floor);
  warmup_ = std::llround(config.warmup * static_cast<double>(updates));
}

double Schedule::rate(Index update) const {
  if (update < warmup_) return peak_ * static_cast<double>(update) / static_cast<double>(warmup_);
  if (update >= updates_) return updates_ > warmup_ ? floor_ : peak_;
  const double progress = static_cast<double>(update - warmup_) / static_cast<double>(updates_ - warmup_);
  return floor_ + (peak_ - floor_) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
}

}  // namespace tapeline

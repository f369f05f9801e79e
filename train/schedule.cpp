#include "train/schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "train/nearest_name.h"

namespace tapeline {
namespace {

void check_name(std::string_view key, const std::string& name, const std::vector<std::string>& names) {
  require<ConfigError>(std::ranges::find(names, name) != names.end(), "{} is \"{}\"; it must be one of {}{}",
                       key, name, fmt::join(names, ", "), did_you_mean(nearest_name(name, names)));
}

void check_share(std::string_view key, double share, std::string_view of) {
  require<ConfigError>(share >= 0 && share <= 1, "{} is {}; it is a share of the {}, from 0 to 1", key, share,
                       of);
}

Index share_of(Index updates, double share) { return std::llround(share * static_cast<double>(updates)); }

}  // namespace

const std::vector<std::string>& schedule_kinds() {
  static const std::vector<std::string> kinds = {"cosine", "wsd", "inverse_sqrt", "constant"};
  return kinds;
}

const std::vector<std::string>& decay_shapes() {
  static const std::vector<std::string> shapes = {"linear", "cosine", "sqrt", "exponential"};
  return shapes;
}

Schedule::Schedule(const ScheduleConfig& config, double peak, Index updates)
    : config_(config), peak_(peak), floor_(config.floor * peak), updates_(updates), falling_(0) {
  check_name("schedule.kind", config.kind, schedule_kinds());
  check_name("schedule.decay_shape", config.decay_shape, decay_shapes());
  check_share("schedule.warmup", config.warmup, "steps");
  check_share("schedule.floor", config.floor, "peak rate");
  check_share("schedule.decay", config.decay, "steps");
  warmup_ = share_of(updates, config.warmup);
  if (config.kind == "cosine") {
    config_.decay_shape = "cosine";
    falling_ = updates - warmup_;
  } else if (config.kind == "wsd") {
    require<ConfigError>(config.warmup + config.decay <= 1,
                         "schedule.warmup is {} and schedule.decay {}; rise and fall are shares of the same "
                         "steps, together at most 1",
                         config.warmup, config.decay);
    require<ConfigError>(config.decay_shape != "exponential" || config.floor > 0,
                         "schedule.floor is 0, which an exponential fall never reaches; give a floor above "
                         "0, or another schedule.decay_shape");
    // Rounded apart, the two could overlap by one update.
    falling_ = std::min(share_of(updates, config.decay), updates - warmup_);
  }
}

double Schedule::decayed(double progress) const {
  const std::string& shape = config_.decay_shape;
  if (shape == "exponential") return peak_ * std::pow(config_.floor, progress);
  const double left = shape == "linear" ? 1 - progress
                      : shape == "sqrt" ? 1 - std::sqrt(progress)
                                        : 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return floor_ + (peak_ - floor_) * left;
}

double Schedule::rate(Index update) const {
  update = std::min(update, std::max<Index>(1, updates_));
  if (update < warmup_) return peak_ * static_cast<double>(update) / static_cast<double>(warmup_);
  if (config_.kind == "inverse_sqrt")
    return peak_ * std::sqrt(static_cast<double>(std::max<Index>(1, warmup_)) / static_cast<double>(update));
  const Index fallen = update - (updates_ - falling_);
  return fallen <= 0 ? peak_ : decayed(static_cast<double>(fallen) / static_cast<double>(falling_));
}

}  // namespace tapeline

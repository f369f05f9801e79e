#pragma once

#include <string>
#include <vector>

#include "train/config.h"

namespace tapeline {

/// The learning rate of every optimizer update. First a linear rise to the peak over the first `warmup` share
/// of the updates, w of them; then, for update t of n:
///   constant      the peak
///   cosine        half a cosine from the peak down to `floor` times the peak at update n (Loshchilov, Hutter
///                 2016, 1608.03983)
///   inverse_sqrt  peak sqrt(w / t), with w = 1 where there is no rise (Vaswani et al. 2017, 1706.03762)
///   wsd           the peak, until over the last `decay` share of the updates it falls to `floor` times the
///                 peak at update n (warm-up, stable, decay: Hu et al. 2024, 2404.06395); with p the part of
///                 the fall that is done, the way from peak to floor that is left is 1 - p (linear),
///                 1 - sqrt(p) (sqrt: Hägele et al. 2024, 2405.18392), (1 + cos(pi p)) / 2 (cosine); or the
///                 rate is peak floor^p (exponential)
/// A function of the update's number alone, so that a resumed run goes on where it stopped.
class Schedule {
 public:
  /// Throws ConfigError for a kind or shape that there is not, for shares outside [0, 1], for wsd's rise and
  /// fall that leave no room for each other, and for an exponential fall to 0.
  Schedule(const ScheduleConfig& config, double peak, Index updates);

  /// The rate of update number `update`, counted from 1. Past the last update: as at the last.
  double rate(Index update) const;
  Index warmup_updates() const { return warmup_; }

 private:
  double decayed(double progress) const;

  ScheduleConfig config_;
  double peak_;
  double floor_;
  Index updates_;
  Index warmup_;
  Index falling_;  // updates over which the rate falls, the last ones
};

/// The names that schedule.kind and schedule.decay_shape may have.
const std::vector<std::string>& schedule_kinds();
const std::vector<std::string>& decay_shapes();

}  // namespace tapeline

#pragma once

#include "train/config.h"

namespace tapeline {

/// The learning rate of every optimizer update: a linear rise over the first `warmup` share of the updates,
/// then half a cosine from the peak down to `floor` times the peak at the last one (Loshchilov, Hutter 2016,
/// 1608.03983). A function of the update's number alone, so that a resumed run goes on where it stopped.
class Schedule {
 public:
  /// Throws ConfigError for a kind that this version does not have and for shares outside [0, 1].
  Schedule(const ScheduleConfig& config, double peak, Index updates);

  /// The rate of update number `update`, counted from 1. Past the last update: the floor.
  double rate(Index update) const;
  Index warmup_updates() const { return warmup_; }

 private:
  double peak_;
  double floor_;
  Index updates_;
  Index warmup_;
};

}  // namespace tapeline

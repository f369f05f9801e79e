#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/index.h"
#include "experiments/statistics/verdict.h"

namespace tapeline {

/// What is asked of a ratio of perplexities at `times` the trained length.
struct RatioDemand {
  double times = 0;
  Demand demand;
};

/// C10: a model of `short_length` is asked to lose no more than a sinusoidal one of `long_length`, at that
/// length.
struct ShortLong {
  Index short_length = 0, long_length = 0;
  double ratio = 0;  ///< of their perplexities, at most
};

/// The numbers of one scale of experiment. Empty lists and NaN: not asked for there.
struct Thresholds {
  static constexpr double unasked = std::numeric_limits<double>::quiet_NaN();

  std::string_view version;

  std::vector<RatioDemand> alibi;          ///< C1: R of non-overlapping windows
  std::vector<RatioDemand> alibi_sliding;  ///< C2: R of sliding windows
  std::vector<double> residual_at;         ///< C3: multiples of L
  double residual = unasked;               ///< C3: nats a byte, in size at most; NaN: printed and not judged
  double sinusoidal_at_least_alibi = 0;    ///< C4: at this multiple of L R is at least ALiBi's; 0: unasked
  std::vector<RatioDemand> sinusoidal;     ///< C4: R
  std::vector<RatioDemand> sinusoidal_tail;   ///< C4: R of the second half of the windows
  std::vector<double> sinusoidal_rises;       ///< C4: multiples of L, the loss rising from each to the next
  bool rope_finite = false;                   ///< C5: RoPE's losses are numbers
  std::vector<RatioDemand> rope_over_alibi;   ///< C5: RoPE's R over ALiBi's
  std::vector<double> rope_below_sinusoidal;  ///< C5: multiples of L where RoPE's R is below sinusoidal's
  double order_at = 0;                        ///< C6: the multiple of L
  Index order_seeds = 3;                      ///< C6: in so many seeds, and all there are
  bool order_beyond_chance = false;           ///< C6: the paired intervals too
  Demand parity;                              ///< C8: difference of any two losses at L, nats a byte
  Demand gap;                                 ///< C9: nats a byte
  double gap_spread = unasked;                ///< C9: difference of any two gaps, at most
  std::vector<ShortLong> short_long;          ///< C10
  double alibi_speed = unasked;               ///< C11: tokens a second over those of sinusoidal, at least
  double rope_speed = unasked;                ///< C11: likewise
  double learnt = unasked;                    ///< C12: loss at L, nats a byte, below
};

/// The set of that name. Throws ConfigError for any other than those of compare.thresholds.
const Thresholds& thresholds(std::string_view version);

}  // namespace tapeline

#include "experiments/criteria/thresholds.h"

#include <cmath>

#include "core/error.h"

namespace tapeline {
namespace {

// The sets are frozen: results name the set that they were judged by, so a set that was wrong is left as it
// is and another one is added (toy-2). Where the numbers come from: ratios of perplexities a word from the
// tables of Press, Smith, Lewis 2022 (2108.12409), Chi et al. 2022 (2205.09921) and Sun et al. 2022
// (2212.10554), turned into ratios a byte by the exponent 1 / 5.3 (English letters a word); losses in nats a
// byte of the King James text. R is lower for better.

Thresholds smoke() {
  Thresholds set;
  set.version = "smoke-1";
  set.alibi = {{4, Demand::at_most(1.02)}};
  set.residual_at = {2, 4};
  set.sinusoidal_at_least_alibi = 4;
  set.rope_finite = true;
  set.parity = Demand::within(-std::log(1.1), std::log(1.1));  // perplexities within 10 %
  set.gap = Demand::above(0);
  set.learnt = 3.02;  // the entropy of single bytes
  return set;
}

Thresholds toy() {
  Thresholds set;
  set.version = "toy-1";
  set.alibi = {{8, Demand::below(1)}, {16, Demand::at_most(1)}};
  set.alibi_sliding = {{8, Demand::at_most(1.02)}};
  set.residual_at = {2, 4};
  set.residual = 0.015;
  set.sinusoidal = {{8, Demand::at_least(1.5)}};
  set.sinusoidal_tail = {{2, Demand::at_least(1.1)}};
  set.rope_over_alibi = {{8, Demand::at_least(1.05)}};
  set.order_at = 8;
  set.parity = Demand::within(-0.05, 0.05);
  set.gap = Demand::within(0.03, 0.15);
  set.gap_spread = 0.02;
  set.alibi_speed = 0.95;
  set.rope_speed = 0.9;
  set.learnt = 1.9;
  return set;
}

Thresholds paper() {
  Thresholds set;
  set.version = "paper-1";
  set.alibi = {{8, Demand::below(1)}, {2, Demand::below(1)}, {4, Demand::below(1)}, {32, Demand::at_most(1)}};
  set.alibi_sliding = {{8, Demand::at_most(1.02)}, {2, Demand::at_most(1.01)}};
  set.residual_at = {2, 4, 8};
  set.residual = 0.01;
  set.sinusoidal = {{8, Demand::at_least(1.5)}};
  set.sinusoidal_tail = {{2, Demand::at_least(1.25)}};
  set.sinusoidal_rises = {1, 2, 4, 8, 16, 32};
  set.rope_over_alibi = {{8, Demand::at_least(1.1)}, {16, Demand::at_least(1.15)}};
  set.rope_below_sinusoidal = {2};
  set.order_at = 8;
  set.order_beyond_chance = true;
  set.parity = Demand::within(-0.03, 0.03);
  set.gap = Demand::within(0.03, 0.15);
  set.gap_spread = 0.02;
  set.short_long = {{64, 512, 1.05}, {128, 512, 1.05}, {256, 512, 1.01}};
  set.alibi_speed = 0.95;
  set.rope_speed = 0.9;
  set.learnt = 1.62;  // gzip -9, 2.34 bits a byte
  return set;
}

}  // namespace

const Thresholds& thresholds(std::string_view version) {
  static const std::vector<Thresholds> sets = {smoke(), toy(), paper()};
  for (const Thresholds& set : sets) {
    if (set.version == version) return set;
  }
  fail<ConfigError>("compare.thresholds: there is no set \"{}\"", version);
}

}  // namespace tapeline

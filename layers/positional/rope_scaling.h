#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// How the frequencies of rotary positions change for lengths past the trained one.
enum class RopeScalingKind { none, linear, ntk, dynamic_ntk, ntk_by_parts, yarn, llama3, longrope };

/// One scaling with its parameters. s is the extension factor, L0 the trained length, L the length of the
/// context, theta_p = base^(-2p/r), N_p = L0 theta_p / 2 pi the turns that pair p makes in the trained
/// length.
struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::none;
  double original_length = 1;         ///< L0
  std::optional<double> factor = {};  ///< s, at least 1; absent: L / L0, at least 1
  double alpha = 1;  ///< dynamic_ntk: share of the growth; ntk_by_parts: turns below which s counts whole
  double beta = 32;  ///< ntk_by_parts: turns from which a frequency stays
  double beta_fast = 32;                   ///< yarn: turns from which a frequency stays
  double beta_slow = 1;                    ///< yarn: turns below which s counts whole
  bool truncate = true;                    ///< yarn: the ends of the ramp are whole pairs
  double attention_factor = 1;             ///< yarn: m is multiplied by it
  double low = 1, high = 4;                ///< llama3: what alpha and beta are there
  std::vector<double> long_factors = {};   ///< longrope: lambda_p [r/2] where L > L0
  std::vector<double> short_factors = {};  ///< longrope: where L <= L0; empty: all 1
  Index keep_first = 0;                    ///< longrope: positions below it keep theta_p
};

/// beta where none is given, for an original length: few turns fit in a short one.
double automatic_beta(double alpha, double original_length);

/// Whether frequencies or m depend on the length of the context.
bool depends_on_length(const RopeScaling& scaling);

/// s in a context of `length`.
double extension_factor(const RopeScaling& scaling, Index length);

/// m in a context of `length`: cosines and sines are multiplied by it, so that the rotated part of a score
/// grows by m^2. yarn: (0.1 ln s + 1) attention_factor; longrope: sqrt(1 + ln s / ln L0); else 1.
double rotary_factor(const RopeScaling& scaling, Index length);

/// theta'_p [r/2] in a context of `length`; r/2 is the size of `frequencies`.
///   linear        theta_p / s                                         (Chen et al. 2023, 2306.15595)
///   ntk           theta_p from base s^(r/(r-2)): the first pair as it was, the last one divided by s
///   dynamic_ntk   the same for s = alpha L/L0 - (alpha - 1), L at least L0
///   ntk_by_parts  (1 - g) theta_p / s + g theta_p, g = clamp((N_p - alpha) / (beta - alpha), 0, 1)
///   yarn          the same, g falling from 1 to 0 between the pairs that make beta_fast and beta_slow turns
///                 (Peng et al. 2023, 2309.00071; the ramp of its program)
///   llama3        as ntk_by_parts, between low and high               (Llama team 2024, 2407.21783)
///   longrope      theta_p / lambda_p                                  (Ding et al. 2024, 2402.13753)
void rotary_frequencies(const RopeScaling& scaling, double base, Index length, std::span<double> frequencies);

}  // namespace tapeline

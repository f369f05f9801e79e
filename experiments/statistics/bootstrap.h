#pragma once

#include <limits>
#include <span>
#include <vector>

#include "core/random.h"
#include "train/evaluate.h"

namespace tapeline {

/// A mean over tokens, and what it might have been on other text of the same kind.
struct BootstrapInterval {
  double mean = std::numeric_limits<double>::quiet_NaN();
  /// Of the 95 % interval; NaN under fewest_bootstrap_blocks.
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
  Index blocks = 0;
};

/// A part of a sum of means: `weight` times the token-weighted mean of the losses in `blocks`.
struct BootstrapTerm {
  double weight = 1;
  std::span<const SegmentLoss> blocks;
};

/// Under so many blocks there is no interval: its limits would be the lowest and the highest of the draws
/// (with 4 blocks the quantiles are 0.0001 and 0.9999), and no number of draws makes more of so little text.
inline constexpr Index fewest_bootstrap_blocks = 8;

/// Draws of the bootstrap where nothing else is said.
inline constexpr Index bootstrap_draws = 1000;

/// Block bootstrap of Σ weight · (Σ total / Σ tokens): each draw takes as many blocks as there are, with
/// replacement, the same ones for all terms, so that terms are paired: a length effect within one model, or
/// two models, on the same text. A block is a contiguous segment of text, in which neighbouring losses go
/// together (Künsch 1989, "The jackknife and the bootstrap for general stationary observations").
///
/// The interval is the expanded percentile interval (Hesterberg 2015, "What Teachers Should Know About the
/// Bootstrap", 5.3): from the quantile Φ(-√(n/(n-1)) · t) of the draws to the mirrored one, with t the 0.975
/// quantile of Student's t with n - 1 degrees of freedom for n blocks. The plain one (0.025 to 0.975) is too
/// narrow for few blocks by just these two factors: it takes the variance with n and the normal distribution.
///
/// Draw number d takes its blocks from lane d of `key`. Throws ShapeError when the terms have different
/// numbers of blocks. Losses that are not finite give no interval, fewer blocks than fewest_bootstrap_blocks
/// neither.
BootstrapInterval bootstrap(const std::vector<BootstrapTerm>& terms, RandomKey key,
                            Index draws = bootstrap_draws);

}  // namespace tapeline

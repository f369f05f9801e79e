#pragma once

#include <vector>

#include "layers/positional/registry.h"
#include "layers/positional/rope_scaling.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Rotary positions: pair p of a query or key row at position t is turned by t * base^(-2p/r); a score then
/// depends on the difference of positions only (Su et al. 2021, 2104.09864). r, the rotated width, is the
/// first `fraction` of every head; the rest is left alone. No parameters. A scaling changes frequencies and
/// multiplies cosines and sines (rope_scaling.h); one that depends on the length takes that of the declared
/// context, and its keys are cached unturned.
class RotaryPositions final : public PositionalEncoding {
 public:
  struct Settings {
    Index head_width = 0;
    Index rotated_width = 0;  ///< even, at most head_width
    double base = 10000;
    Pairing pairing = Pairing::half;
    RopeScaling scaling = {};
  };
  /// Throws ConfigError for a base of 1 or less.
  explicit RotaryPositions(const Settings& settings);

  Rotation rotation(Pass& pass, Role role, const Positions& rows, const PassPositions& all,
                    Index layer) const override;

  CachedKeys cached_keys() const override;

  /// The frequencies in a context of `length`.
  std::vector<double> frequencies(Index length) const;

 private:
  Settings settings_;
  bool by_length_;
  std::vector<double> unscaled_;
  std::vector<double> scaled_;  ///< where they do not depend on the length
};

const EncodingKind& rope_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION

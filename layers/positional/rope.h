#pragma once

#include <vector>

#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Rotary positions: pair p of a query or key row at position t is turned by t * base^(-2p/r); a score then
/// depends on the difference of positions only (Su et al. 2021, 2104.09864). r, the rotated width, is the
/// first `fraction` of every head; the rest is left alone. No parameters.
class RotaryPositions final : public PositionalEncoding {
 public:
  struct Settings {
    Index head_width = 0;
    Index rotated_width = 0;  ///< even, at most head_width
    double base = 10000;
    Pairing pairing = Pairing::half;
  };
  explicit RotaryPositions(const Settings& settings);

  Rotation rotation(Pass& pass, Role role, const Positions& rows, const PassPositions& all,
                    Index layer) const override;

  const std::vector<double>& frequencies() const { return frequencies_; }

 private:
  Settings settings_;
  std::vector<double> frequencies_;
};

const EncodingKind& rope_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION

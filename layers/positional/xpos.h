#pragma once

#include <optional>
#include <vector>

#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Rotary positions with a decay: pair p of a query at position i is turned as by rope and multiplied by
/// z_p^((i-C)/B), that of a key at position j by z_p^(-(j-C)/B), z_p = (2p/r + 0.4) / 1.4. A score then gains
/// z_p^((i-j)/B): it decays with the distance, the faster pairs sooner (Sun et al. 2022, 2212.10554). Any
/// centre C gives the same scores, as long as queries and keys have the same one; the middle of the pass's
/// queries keeps all factors of rows that are seen within the range of a float, and lets far keys fade to 0.
/// So keys are cached unturned. Causal only: a key after its query would grow without bound. No parameters.
class XposPositions final : public PositionalEncoding {
 public:
  struct Settings {
    Index head_width = 0;
    Index rotated_width = 0;  ///< even, at most head_width
    double base = 10000;
    Pairing pairing = Pairing::interleaved;
    double scale_base = 512;         ///< B
    std::optional<double> center{};  ///< C; absent: the middle of the pass's queries
  };
  /// Throws ConfigError for a base of 1 or less, and for a B that is not positive.
  explicit XposPositions(const Settings& settings);

  /// Throws ShapeError for positions too far apart, or too far from a fixed centre, for a float.
  Rotation rotation(Pass& pass, Role role, const Positions& rows, const PassPositions& all,
                    Index layer) const override;
  CachedKeys cached_keys() const override { return CachedKeys::raw; }
  std::optional<Index> max_rows() const override;
  /// With a fixed centre: the rows whose factors a float holds.
  std::optional<Index> max_length() const override;

 private:
  double center_of(const Positions& queries) const;
  void require_range(Role role, const Positions& rows, double center) const;

  Settings settings_;
  std::vector<double> frequencies_;
  std::vector<double> log_scales_;  ///< ln z_p, below 0
};

const EncodingKind& xpos_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION

#pragma once

#include <mutex>
#include <vector>

#include "layers/positional/distance_encoding.h"
#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// The product of two sinusoids as a bias: b_h(d) = H / (8 h) (sum_p cos(d 10000^(-2p/dimension)) - dimension
/// / 2), p = 0 .. dimension / 2 - 1, h = 1 .. H (Chi, Fan, Rudnicky, Ramadge 2023, 2212.10356). The constant,
/// which makes it 0 at distance 0, changes no softmax. No parameters.
class SandwichPositions final : public DistanceEncoding {
 public:
  struct Settings {
    Index heads = 0, head_width = 0;
    bool causal = true;
    Index dimension = 128;  ///< even
  };
  /// Registers nothing.
  explicit SandwichPositions(const Settings& settings);

 protected:
  void fill(Index set, const DistanceRows& rows) const override;

 private:
  std::vector<double> frequencies_;
  mutable std::mutex mutex_;
  mutable std::vector<double> sums_;  // of |d|, before the head's factor; grows with the longest distance
};

const EncodingKind& sandwich_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION

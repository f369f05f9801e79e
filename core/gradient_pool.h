#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "core/tensor.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Memory for the gradients of activations: one free list a size. A gradient goes back as soon as its node's
/// rule has run, so the most in use at once does not grow with depth; after the first step nothing is
/// allocated.
class GradientPool {
 public:
  GradientPool() = default;
  ~GradientPool();
  GradientPool(const GradientPool&) = delete;
  GradientPool& operator=(const GradientPool&) = delete;

  /// Uninitialised room for `count` numbers, aligned to 64 bytes.
  Real* take(Index count);
  void give_back(Real* memory, Index count);

  std::size_t used_bytes() const { return used_bytes_; }
  std::size_t peak_bytes() const { return peak_bytes_; }
  void reset_peak() { peak_bytes_ = used_bytes_; }

 private:
  std::map<Index, std::vector<Real*>> free_;
  std::vector<Real*> owned_;
  std::size_t used_bytes_ = 0;
  std::size_t peak_bytes_ = 0;
};

}  // namespace tapeline::inline TAPELINE_PRECISION

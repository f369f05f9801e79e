#pragma once

#include <string>
#include <vector>

#include "core/kernels/gemm.h"
#include "core/tensor.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// The causal tiles of attention as matrix products alone: 64 query rows at a time against all keys that they
/// see, two products forward (scores, output) and five backward (scores again, dP, dV, dQ, dK), by each
/// library. The tiles of all heads are dealt to the threads in shares of equal work; a head may be split.
class AttentionTiles {
 public:
  struct Size {
    Index heads = 0;  ///< of all sequences together
    Index length = 0, head_width = 0;
    Index window = 0;  ///< keys that a query sees; 0: all before it
  };
  enum class Run { forward, training };
  AttentionTiles(const Size& size, Run run);

  /// Runs everything once by each library.
  void measure();

  /// Median of the fastest library, all heads once.
  struct Time {
    std::string name;  ///< "oneDNN"
    double seconds = 0;
  };
  Time forward() const { return fastest(forward_); }
  /// For Run::training.
  Time backward() const { return fastest(backward_); }
  const Size& size() const { return size_; }

  static constexpr Index tile_rows = 64;
  /// Bytes that an object of this size takes.
  static double bytes(const Size& size, Run run);

 private:
  using Seconds = std::vector<std::vector<double>>;  // by library
  static Index widest_tile(const Size& size);
  Time fastest(const Seconds& seconds) const;
  Index first_key(Index row) const;
  void deal();
  void run_forward(GemmLibrary library) const;
  void run_backward(GemmLibrary library) const;
  void for_tiles(const auto& tile) const;

  Size size_;
  Index tiles_ = 0;          // of one head
  std::vector<Index> cuts_;  // where each worker's share of all heads' tiles begins; the end
  Storage values_;           // q, k, v, output
  Storage gradients_;        // dq, dk, dv, d output
  Storage scores_;           // of a tile and their gradients, a worker
  Storage split_heads_;      // dk, dv of a head that another worker began
  Seconds forward_, backward_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION

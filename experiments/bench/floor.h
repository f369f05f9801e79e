#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/bench/attention_tiles.h"
#include "experiments/bench/product_times.h"
#include "train/config.h"
#include "train/train_step.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// The products that no implementation can do without, timed on this machine: what a training step, an
/// evaluated window or a generated token is held against. Linear layers and head at their shapes, each by
/// the fastest of {OpenBLAS, oneDNN} x {library threads, rows split by us}; and attention's causal tiles of
/// 64 rows.
class Floor {
 public:
  ProductTimes products;
  std::optional<AttentionTiles> tiles;  ///< of one layer
  Index tile_count = 0;                 ///< how often these: layers

  /// Times everything once by every choice.
  void measure();
  /// Of the whole: medians of what was measured so far, the fastest choice of each.
  double seconds() const;

  /// One kind of product and how it came out; attention as 64 rows against the longest row of keys.
  struct Line {
    std::string name;  ///< "feed-forward in, dW"
    Index m = 0, n = 0, k = 0, count = 0;
    double seconds = 0;  ///< of one
    double flops = 0;    ///< of one; attention: of the pairs that are seen
    std::string choice;  ///< "OpenBLAS, its own threads"
  };
  std::vector<Line> lines() const;
};

/// A training step: forward and both gradients; attention two products forward and five backward.
Floor step_floor(const Config& config, Index vocabulary, const StepShape& shape);
/// The products of linear layers and head of a training step alone.
ProductTimes step_products(const ModelConfig& model, Index vocabulary, const StepShape& shape);
/// A window of `length` tokens without gradients, its linear layers in chunks of `chunk` rows.
Floor window_floor(const Config& config, Index vocabulary, Index length, Index chunk);
/// One generated token: one row through all layers and the head, which reads every weight once.
Floor token_floor(const ModelConfig& model, Index vocabulary);

}  // namespace tapeline::inline TAPELINE_PRECISION

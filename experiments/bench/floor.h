#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/kernels/gemm.h"
#include "core/tensor.h"
#include "layers/model_config.h"
#include "train/train_step.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// The products of a training step that no implementation can do without, timed on this machine: what a step
/// is held against. Linear layers and head, forward and both gradients, at their shapes, each by the fastest
/// of {OpenBLAS, oneDNN} x {library threads, rows split by us}; and attention's causal tiles of 64 rows, two
/// products forward and five backward, spread over the threads by sequence and head.
class StepFloor {
 public:
  StepFloor(const ModelConfig& model, Index vocabulary, const StepShape& shape);

  /// Times every product once by every choice.
  void measure();
  /// Of one whole step: medians of what was measured so far, the fastest choice of each product.
  double seconds() const;

  /// One kind of product and how it came out.
  struct Line {
    std::string name;  ///< "feed-forward in, dW"
    Index m = 0, n = 0, k = 0, count = 0;
    double seconds = 0;  ///< of one
    std::string choice;  ///< "openblas, library threads"
  };
  std::vector<Line> lines() const;

 private:
  struct Product {
    std::string name;
    Gemm gemm;
    Index count = 0;
    std::vector<std::vector<double>> seconds;  ///< by choice
  };
  void add_linear(const std::string& name, Index rows, Index in, Index out, Index count);
  void add(const std::string& name, const Gemm& gemm, Index count);
  void run_attention(GemmLibrary library) const;
  std::size_t fastest(const Product& product) const;

  Index length_ = 0, heads_in_step_ = 0, head_width_ = 0, layers_ = 0;
  std::vector<Storage> memory_;
  std::vector<Product> products_;
  std::vector<std::vector<double>> attention_seconds_;  ///< by library, all layers of a step
};

}  // namespace tapeline::inline TAPELINE_PRECISION

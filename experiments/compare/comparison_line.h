#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/compare/cell.h"
#include "train/training_line.h"

namespace tapeline {

/// The progress line of a comparison: which cell, what it does and how fast, and how much of the whole is
/// done.
class ComparisonLine {
 public:
  /// `gemm_gflops`: the speed of the machine's matrix product.
  ComparisonLine(const std::vector<Cell>& cells, Index vocabulary, double gemm_gflops)
      : cells_(cells), vocabulary_(vocabulary), gemm_gflops_(gemm_gflops) {}

  /// Of cell `number`, counted from 0; `share`: of everything, done.
  std::string text(std::size_t number, const CellProgress& at, double share, double seconds_left);

 private:
  const std::vector<Cell>& cells_;
  Index vocabulary_;
  double gemm_gflops_;
  std::optional<TrainingPace> pace_;
  std::size_t paced_ = 0;  ///< the cell that it is of
};

/// What is said of a cell that has just been done: "[1/15] rope, seed 0: bits per byte at 64: 2.013, …".
std::string finished_text(const std::vector<Cell>& cells, std::size_t number, const CellRecord& record);

}  // namespace tapeline

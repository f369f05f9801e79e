#pragma once

#include <vector>

#include "experiments/compare/cell.h"

namespace tapeline {

/// How much there is to do, in floating-point operations: what the time left is estimated from. Evaluation
/// counts more than its share, as it runs at a lower rate.
class Workload {
 public:
  Workload(const std::vector<Cell>& cells, Index vocabulary, const ComparedTargets& targets);

  double total() const { return total_; }
  /// What is done when cell number `cell` stands at `at` and all cells before it are complete.
  double done(std::size_t cell, const CellProgress& at) const;
  /// What is done when all cells before number `cell` are complete.
  double before(std::size_t cell) const;

 private:
  struct CellWork {
    double training = 0;
    std::vector<double> evaluations;  // then the probes
  };
  std::vector<CellWork> cells_;
  std::vector<double> before_;
  double total_ = 0;
};

}  // namespace tapeline

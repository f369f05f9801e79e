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
  /// The training of a cell; 0 of one that is trained in a sweep.
  double training(std::size_t cell) const { return cells_[cell].training; }
  /// All that follows it.
  double evaluation(std::size_t cell) const;
  /// One evaluation of so many tokens in windows of `length`.
  static double evaluation(const Config& config, Index vocabulary, Index length, Index tokens);
  /// One probe; 0 of one that follows from the evaluations.
  static double probe(const Config& config, Index vocabulary, const ProbeWork& work,
                      const EvaluationPlan& plan);

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

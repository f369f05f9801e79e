#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/watch.h"

namespace tapeline {

/// One kind of op in one direction, in one step; or what lies between the ops.
struct OpTime {
  std::string name;            ///< "linear"; "between ops"
  std::optional<Phase> phase;  ///< none: between ops
  Index calls = 0;
  double seconds = 0;
  double share = 0;                                        ///< of the step
  double flops = 0;                                        ///< 0: none are counted, or there are none
  double bytes = 0;                                        ///< of the tensors that it reads and writes
  double gflops() const { return flops / seconds / 1e9; }  ///< a second
};

/// Where the time of watched steps goes, op by op. An op that contains another one has the time that is its
/// own; what the step, its phases and the parts of the model do outside of any op lies between the ops.
class Breakdown {
 public:
  /// The timings of one step: the step itself first.
  void add(const std::vector<Timing>& step);

  /// Sorted by time. Over the middle half of the steps by their time each row is a mean, so that outliers
  /// count for nothing and the rows still add up, to step_seconds().
  std::vector<OpTime> rows() const;
  double step_seconds() const;
  /// Median over the steps.
  double median_step_seconds() const;

 private:
  struct Row {
    OpTime sums;                  // calls, operations and bytes of all steps
    std::vector<double> seconds;  // by step
  };
  Row& row_of(std::string_view name, std::optional<Phase> phase);
  std::vector<std::size_t> middle_steps() const;

  std::vector<Row> rows_;
  std::vector<double> step_seconds_;
};

}  // namespace tapeline

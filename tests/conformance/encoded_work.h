#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/ops.h"
#include "layers/positional/registry.h"
#include "tests/conformance/work.h"

#if __has_include("layers/positional/score_scale.h")  // a build with [positional.score]
#include "layers/positional/score_scale.h"
#define TAPELINE_SCORE_SCALES
#endif

/// Compiled in both precisions, like compute.cpp.
namespace tapeline::inline TAPELINE_PRECISION {

/// The numbers of an array under another shape of equal size, as Real. Throws ShapeError.
Storage rounded(const conformance::GoldenArray& array, const Shape& shape);
std::vector<double> numbers_of(const Tensor& tensor);

/// The encoding of a piece of work with its parameters filled, and a pass to run it in.
class EncodedWork {
 public:
  explicit EncodedWork(const conformance::Work& work);

  const PositionalEncoding* operator->() const { return encoding_.get(); }

  /// Queries and keys are all rows of the work.
  PassPositions all() const;
  ScoreTerms terms(const PassPositions& positions);
  /// x [1, H, L, D] as queries or keys come to be.
  Var turned(Var x, Role role, const PassPositions& positions);
  /// The gradients of the parameters as the arrays have them.
  void add_gradients(std::vector<conformance::FoundArray>& found);

 private:
  Parameter& parameter(const std::string& name);
  void fill(const conformance::LearnedArray& learned);

  const conformance::Work& work_;
  ParameterStore store_;
  std::unique_ptr<PositionalEncoding> encoding_;
#ifdef TAPELINE_SCORE_SCALES
  std::unique_ptr<ScoreScale> score_scale_;
#endif
  Arena arena_;
  GradientPool pool_;
  Tape tape_{arena_, pool_};

 public:
  Pass pass{tape_};
};

}  // namespace tapeline::inline TAPELINE_PRECISION

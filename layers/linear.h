#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "layers/init.h"
#include "layers/pass.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// y = x W^T + bias, W [out, in]. Parameters: weight, bias.
struct Linear {
  Linear(const Scope& scope, Index in, Index out, bool with_bias = true,
         double deviation = initial_deviation);

  Var operator()(Pass& pass, Var x) const;  // [..., in] -> [..., out]
  /// Added to `stream` [..., out], the residual stream.
  Var onto(Pass& pass, Var stream, Var x) const;

  Parameter* weight = nullptr;
  Parameter* bias = nullptr;  ///< nullptr: none
};

/// Several linear maps of one input. Each has its own names (query/weight, key/weight, ...), but the weights
/// stand one after another in memory, and so do the biases: one product serves all, its result is their
/// outputs side by side.
struct JointLinear {
  struct Part {
    std::string_view name;
    Index out;
  };
  JointLinear(const Scope& scope, Index in, std::initializer_list<Part> parts, bool with_bias = true,
              double deviation = initial_deviation);

  Var operator()(Pass& pass, Var x) const;  // [..., in] -> [..., sum of out]

  /// All weights as one [sum of out, in], and all biases as one [sum of out] (absent: none).
  Var joint_weight(Pass& pass) const;
  Var joint_bias(Pass& pass) const;

  std::vector<Parameter*> weights;
  std::vector<Parameter*> biases;  ///< empty: none
};

}  // namespace tapeline::inline TAPELINE_PRECISION

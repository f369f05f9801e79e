#include "layers/linear.h"

#include "core/ops.h"

namespace tapeline::inline TAPELINE_PRECISION {

Linear::Linear(const Scope& scope, Index in, Index out, bool with_bias, double deviation)
    : weight(&scope.add("weight", {.shape = {out, in}, .initializer = normal(deviation), .decays = true})) {
  if (with_bias) bias = &scope.add("bias", {.shape = {out}, .initializer = zeros()});
}

Var Linear::operator()(Pass& pass, Var x) const {
  return linear(x, pass.tape.leaf(*weight), bias != nullptr ? pass.tape.leaf(*bias) : Var{});
}

Var Linear::onto(Pass& pass, Var stream, Var x) const {
  return linear_onto(stream, x, pass.tape.leaf(*weight), bias != nullptr ? pass.tape.leaf(*bias) : Var{});
}

JointLinear::JointLinear(const Scope& scope, Index in, std::initializer_list<Part> parts, bool with_bias,
                         double deviation) {
  for (const Part& part : parts) {  // all weights first: they must be neighbours
    weights.push_back(&scope.scope(part.name).add(
        "weight", {.shape = {part.out, in}, .initializer = normal(deviation), .decays = true}));
  }
  if (!with_bias) return;
  for (const Part& part : parts) {
    biases.push_back(&scope.scope(part.name).add("bias", {.shape = {part.out}, .initializer = zeros()}));
  }
}

Var JointLinear::joint_weight(Pass& pass) const {
  return pass.tape.leaf(std::span<Parameter* const>(weights));
}

Var JointLinear::joint_bias(Pass& pass) const {
  return biases.empty() ? Var{} : pass.tape.leaf(std::span<Parameter* const>(biases));
}

Var JointLinear::operator()(Pass& pass, Var x) const {
  return linear(x, joint_weight(pass), joint_bias(pass));
}

}  // namespace tapeline::inline TAPELINE_PRECISION

#include "layers/feed_forward.h"

#include "core/error.h"
#include "core/ops.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

JointLinear make_inner(const Scope& scope, const ModelConfig& config) {
  const Index inner = config.resolved_feed_forward_width();
  if (config.activation != "swiglu") return {scope, config.width, {{"inner", inner}}, config.bias};
  return {scope, config.width, {{"gate", inner}, {"inner", inner}}, config.bias};
}

Var gelu_inside(Pass& pass, const JointLinear& inner, Var x) {
  return linear_gelu(x, inner.joint_weight(pass), inner.joint_bias(pass), Lifetime::passing);
}
Var gelu_tanh_inside(Pass& pass, const JointLinear& inner, Var x) {
  return linear_gelu_tanh(x, inner.joint_weight(pass), inner.joint_bias(pass), Lifetime::passing);
}
Var swiglu_inside(Pass& pass, const JointLinear& inner, Var x) { return swiglu(inner(pass, x)); }

decltype(FeedForward::inside) find_inside(std::string_view name) {
  if (name == "gelu") return gelu_inside;
  if (name == "gelu_tanh") return gelu_tanh_inside;
  if (name == "swiglu") return swiglu_inside;
  fail<ConfigError>("model.activation = \"{}\" is unknown; it is one of gelu, gelu_tanh, swiglu", name);
}

}  // namespace

FeedForward::FeedForward(const Scope& scope, const ModelConfig& config)
    : inside(find_inside(config.activation)),
      inner(make_inner(scope, config)),
      output(scope.scope("output"), config.resolved_feed_forward_width(), config.width, config.bias,
             residual_deviation(config.layers)) {}

Var FeedForward::operator()(Pass& pass, Var x) const {
  const Var hidden = inside(pass, inner, x);
  const Var result = output(pass, hidden);
  pass.tape.forget(hidden);
  return result;
}

Var FeedForward::onto(Pass& pass, Var stream, Var x) const {
  const Var hidden = inside(pass, inner, x);
  const Var result = output.onto(pass, stream, hidden);
  pass.tape.forget(hidden);
  return result;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

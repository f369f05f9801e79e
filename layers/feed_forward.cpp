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

Var (*find_activation(std::string_view name))(Var) {
  if (name == "gelu") return gelu;
  if (name == "gelu_tanh") return gelu_tanh;
  if (name == "swiglu") return swiglu;
  fail<ConfigError>("model.activation = \"{}\" is unknown; it is one of gelu, gelu_tanh, swiglu", name);
}

}  // namespace

FeedForward::FeedForward(const Scope& scope, const ModelConfig& config)
    : activation(find_activation(config.activation)),
      inner(make_inner(scope, config)),
      output(scope.scope("output"), config.resolved_feed_forward_width(), config.width, config.bias,
             residual_deviation(config.layers)) {}

Var FeedForward::operator()(Pass& pass, Var x) const {
  const Var inside = activation(inner(pass, x));  // [..., F]
  return output(pass, inside);
}

}  // namespace tapeline::inline TAPELINE_PRECISION

#include "core/kernels/sgd.h"

#include "core/error.h"
#include "train/optimizer.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

class SgdOptimizer : public Optimizer {
 public:
  SgdOptimizer(const OptimizerConfig& config, ParameterStore& parameters)
      : Optimizer(parameters, {"velocity"}), config_(config) {
    require<ConfigError>(config.momentum >= 0 && config.momentum < 1,
                         "optimizer.momentum is {}; it must be at least 0 and below 1", config.momentum);
  }

  std::string_view kind() const override { return "sgd"; }

 protected:
  void step(Parameter& parameter, std::size_t number, double rate, double factor) override {
    const Sgd update{.lr = rate,
                     .momentum = config_.momentum,
                     .decay = parameter.decays() ? config_.weight_decay : 0,
                     .gradient_scale = factor,
                     .lowest = parameter.bounds().lowest,
                     .highest = parameter.bounds().highest};
    sgd(update, {parameter.mutable_value().data, parameter.grad().data, state(0, number).data,
                 parameter.shape().size()});
  }

 private:
  OptimizerConfig config_;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(const OptimizerConfig& config, ParameterStore& parameters) {
  return std::make_unique<SgdOptimizer>(config, parameters);
}

}  // namespace tapeline::inline TAPELINE_PRECISION

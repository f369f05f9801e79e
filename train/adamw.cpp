#include "core/kernels/adamw.h"

#include "core/error.h"
#include "train/optimizer.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

class AdamWOptimizer : public Optimizer {
 public:
  AdamWOptimizer(const OptimizerConfig& config, ParameterStore& parameters)
      : Optimizer(parameters, {"m", "v"}), config_(config) {
    check_betas(config, kind());
    require<ConfigError>(config.eps > 0, "optimizer.eps is {}; it must be above 0", config.eps);
  }

  std::string_view kind() const override { return "adamw"; }

 protected:
  void step(Parameter& parameter, std::size_t number, double rate, double factor) override {
    AdamW update;
    update.lr = rate;
    update.beta1 = config_.betas[0];
    update.beta2 = config_.betas[1];
    update.epsilon = config_.eps;
    update.decay = parameter.decays() ? config_.weight_decay : 0;
    update.step = updates();
    update.gradient_scale = factor;
    update.lowest = parameter.bounds().lowest;
    update.highest = parameter.bounds().highest;
    adamw(update, {parameter.mutable_value().data, parameter.grad().data, state(0, number).data,
                   state(1, number).data, parameter.shape().size()});
  }

 private:
  OptimizerConfig config_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(const OptimizerConfig& config, ParameterStore& parameters) {
  return std::make_unique<AdamWOptimizer>(config, parameters);
}

}  // namespace tapeline::inline TAPELINE_PRECISION

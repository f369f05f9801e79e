#include "core/kernels/lion.h"

#include "train/optimizer.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

class LionOptimizer : public Optimizer {
 public:
  LionOptimizer(const OptimizerConfig& config, ParameterStore& parameters)
      : Optimizer(parameters, {"m"}), config_(config) {
    check_betas(config, kind());
  }

  std::string_view kind() const override { return "lion"; }

 protected:
  void step(Parameter& parameter, std::size_t number, double rate, double factor) override {
    const Lion update{.lr = rate,
                      .beta1 = config_.betas[0],
                      .beta2 = config_.betas[1],
                      .decay = parameter.decays() ? config_.weight_decay : 0,
                      .gradient_scale = factor,
                      .lowest = parameter.bounds().lowest,
                      .highest = parameter.bounds().highest};
    lion(update, {parameter.mutable_value().data, parameter.grad().data, state(0, number).data,
                  parameter.shape().size()});
  }

 private:
  OptimizerConfig config_;
};

}  // namespace

std::unique_ptr<Optimizer> make_lion(const OptimizerConfig& config, ParameterStore& parameters) {
  return std::make_unique<LionOptimizer>(config, parameters);
}

}  // namespace tapeline::inline TAPELINE_PRECISION

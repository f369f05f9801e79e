#include "train/optimizer.h"

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/kernels/adamw.h"

namespace tapeline::inline TAPELINE_PRECISION {

Optimizer::Optimizer(ParameterStore& parameters, std::vector<std::string> slots)
    : parameters_(parameters), slot_names_(std::move(slots)) {
  Index offset = 0;
  for (const Parameter& parameter : parameters_.parameters()) {
    offsets_.push_back(offset);
    offset += parameter.shape().size();
  }
  for (std::size_t slot = 0; slot < slot_names_.size(); ++slot)
    slots_.emplace_back(Shape{offset}, "the optimizer's state of a model");
}

Tensor Optimizer::state(std::size_t slot, std::size_t parameter) const {
  return {parameters_.parameters()[parameter].shape(), slots_[slot].data() + offsets_[parameter]};
}

UpdateReport Optimizer::update(const UpdateRequest& request) {
  UpdateReport report;
  const Tensor gradients = parameters_.gradients();
  report.gradient_norm = std::sqrt(squared_norm(gradients.data, gradients.size()).sum) / request.divisor;
  if (!std::isfinite(report.gradient_norm)) {
    const double norm = report.gradient_norm;
    report = refuse();
    report.gradient_norm = norm;
    return report;
  }
  double factor = 1 / request.divisor;
  if (request.clip > 0 && report.gradient_norm > request.clip) factor *= request.clip / report.gradient_norm;
  ++updates_;
  std::size_t number = 0;
  for (Parameter& parameter : parameters_.parameters()) step(parameter, number++, request.rate, factor);
  report.applied = true;
  return report;
}

namespace {

bool finite(const Tensor& x) { return squared_norm(x.data, x.size()).non_finite == 0; }

}  // namespace

UpdateReport Optimizer::refuse() {
  UpdateReport report;
  report.gradient_norm = std::numeric_limits<double>::quiet_NaN();
  for (const Parameter& parameter : parameters_.parameters()) {
    if (!finite(parameter.value()) || !finite(parameter.grad())) {
      report.first_bad = parameter.name();
      break;
    }
  }
  parameters_.zero_gradients();
  return report;
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, ParameterStore& parameters) {
  require<ConfigError>(config.kind == "adamw",
                       "optimizer.kind is \"{}\", which this version does not have; it has \"adamw\"",
                       config.kind);
  require<ConfigError>(config.clip >= 0, "optimizer.clip is {}; the largest gradient norm, or 0 for none",
                       config.clip);
  return make_adamw(config, parameters);
}

}  // namespace tapeline::inline TAPELINE_PRECISION

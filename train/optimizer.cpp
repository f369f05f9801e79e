#include "train/optimizer.h"

#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <map>

#include "core/error.h"
#include "core/kernels/adamw.h"
#include "train/nearest_name.h"

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
  const WatchScope whole(request.watch, Timing::Kind::group, Phase::optimizer, "optimizer");
  constexpr auto number_bytes = static_cast<Index>(sizeof(Real));
  UpdateReport report;
  const Tensor gradients = parameters_.gradients();
  {
    const WatchScope watched(request.watch, Timing::Kind::op, Phase::optimizer, "gradient norm");
    report.gradient_norm = std::sqrt(squared_norm(gradients.data, gradients.size()).sum) / request.divisor;
    watched.describe(gradients.shape, 0, gradients.size() * number_bytes);
  }
  if (!std::isfinite(report.gradient_norm)) {
    const double norm = report.gradient_norm;
    report = refuse();
    report.gradient_norm = norm;
    return report;
  }
  double factor = 1 / request.divisor;
  if (request.clip > 0 && report.gradient_norm > request.clip) factor *= request.clip / report.gradient_norm;
  ++updates_;
  // Value, gradient and slots of every weight are read and written.
  const auto vectors = static_cast<Index>(2 + slot_names_.size());
  const WatchScope watched(request.watch, Timing::Kind::op, Phase::optimizer, kind());
  watched.describe(gradients.shape, 0, 2 * vectors * gradients.size() * number_bytes);
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

namespace {

using Maker = std::unique_ptr<Optimizer> (*)(const OptimizerConfig&, ParameterStore&);

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> all = {
      {"adamw", make_adamw}, {"lion", make_lion}, {"sgd", make_sgd}};
  return all;
}

}  // namespace

const std::vector<std::string>& optimizer_kinds() {
  static const std::vector<std::string> kinds = [] {
    std::vector<std::string> names;
    for (const auto& [name, make] : makers()) names.push_back(name);
    return names;
  }();
  return kinds;
}

void check_betas(const OptimizerConfig& config, std::string_view kind) {
  require<ConfigError>(config.betas.size() == 2, "optimizer.betas has {} numbers; {} takes two",
                       config.betas.size(), kind);
  for (const double beta : config.betas) {
    require<ConfigError>(beta >= 0 && beta < 1, "optimizer.betas has {}; each must be at least 0 and below 1",
                         beta);
  }
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, ParameterStore& parameters) {
  const auto maker = makers().find(config.kind);
  require<ConfigError>(maker != makers().end(), "optimizer.kind is \"{}\"; it must be one of {}{}",
                       config.kind, fmt::join(optimizer_kinds(), ", "),
                       did_you_mean(nearest_name(config.kind, optimizer_kinds())));
  require<ConfigError>(config.clip >= 0, "optimizer.clip is {}; the largest gradient norm, or 0 for none",
                       config.clip);
  require<ConfigError>(config.weight_decay >= 0, "optimizer.weight_decay is {}; it must be at least 0",
                       config.weight_decay);
  return maker->second(config, parameters);
}

}  // namespace tapeline::inline TAPELINE_PRECISION

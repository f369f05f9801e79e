#include "core/parameter.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace tapeline::inline TAPELINE_PRECISION {

Scope ParameterStore::root() { return {*this, ""}; }

Parameter& ParameterStore::add(std::string name, ParameterSpec spec) {
  require<StateError>(!allocated_, "parameter \"{}\": added after allocate(); register all parameters first",
                      name);
  require<StateError>(!name.empty() && find(name) == nullptr,
                      "parameter \"{}\": the name is {}; every parameter needs a name of its own", name,
                      name.empty() ? "empty" : "taken");
  Parameter& parameter = parameters_.emplace_back();
  parameter.name_ = std::move(name);
  by_name_.emplace(parameter.name_, &parameter);
  parameter.shape_ = spec.shape;
  parameter.initializer_ = std::move(spec.initializer);
  parameter.decays_ = spec.decays;
  parameter.bounds_ = spec.bounds;
  return parameter;
}

void ParameterStore::allocate(std::uint64_t seed) {
  require<StateError>(!allocated_, "parameters: allocate() was called twice; the values would be lost");
  values_ = Storage({size()}, "the weights of a model");
  gradients_ = Storage({size()}, "the gradients of a model");
  allocated_ = true;
  Index offset = 0;
  for (Parameter& parameter : parameters_) {
    parameter.value_ = values_.data() + offset;
    parameter.grad_ = gradients_.data() + offset;
    offset += parameter.shape_.size();
    if (parameter.initializer_) {
      parameter.initializer_(parameter.value(), random_key(seed, parameter.name_));
    }
  }
}

Parameter* ParameterStore::find(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

Index ParameterStore::size() const {
  Index numbers = 0;
  for (const Parameter& parameter : parameters_) numbers += parameter.shape().size();
  return numbers;
}

Tensor ParameterStore::gradients() const { return gradients_.tensor(); }

void ParameterStore::zero_gradients() {
  if (allocated_) std::fill_n(gradients_.data(), gradients_.shape().size(), Real{0});
}

Scope Scope::scope(std::string_view name) const {
  return {*store_, prefix_.empty() ? std::string(name) : fmt::format("{}/{}", prefix_, name)};
}

Scope Scope::scope(Index number) const { return scope(fmt::to_string(number)); }

Parameter& Scope::add(std::string_view name, ParameterSpec spec) const {
  return store_->add(scope(name).prefix_, std::move(spec));
}

}  // namespace tapeline::inline TAPELINE_PRECISION

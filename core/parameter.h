#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/random.h"
#include "core/tensor.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// What the optimizer keeps a parameter within (KERPLE's kernel, learned slopes).
struct Bounds {
  Real lowest = -std::numeric_limits<Real>::infinity();
  Real highest = std::numeric_limits<Real>::infinity();
};

/// Fills a fresh parameter; the key is that of the parameter's own name, so no other parameter moves it.
using Initializer = std::function<void(Tensor value, RandomKey key)>;

/// A trained tensor. Value and gradient live in the store's two contiguous blocks, in order of registration.
class Parameter {
 public:
  const std::string& name() const { return name_; }  ///< its path: "blocks/0/attention/query/weight"
  const Shape& shape() const { return shape_; }
  bool decays() const { return decays_; }  ///< takes part in weight decay (matrices only)
  const Bounds& bounds() const { return bounds_; }
  /// Other uses of the same tensor, for the reader of a checkpoint ("head"); empty when there is none.
  const std::string& tied_to() const { return tied_to_; }
  void set_tied_to(std::string use) { tied_to_ = std::move(use); }

  Tensor value() const { return {shape_, value_}; }
  Tensor grad() const { return {shape_, grad_}; }
  /// The value, to be written to. A tape that has recorded the old value refuses to run backward.
  Tensor mutable_value() {
    ++version_;
    return value();
  }
  std::uint64_t version() const { return version_; }

 private:
  friend class ParameterStore;
  std::string name_;
  Shape shape_;
  bool decays_ = false;
  Bounds bounds_;
  std::string tied_to_;
  Initializer initializer_;
  Real* value_ = nullptr;
  Real* grad_ = nullptr;
  std::uint64_t version_ = 0;
};

/// How a parameter is made.
struct ParameterSpec {
  Shape shape;
  Initializer initializer = {};  ///< absent: zeros
  bool decays = false;
  Bounds bounds{};
};

class Scope;

/// All parameters of a model. Registration comes first; allocate() then makes one block for the values and
/// one for the gradients, so parameters registered one after another stand one after another in memory.
class ParameterStore {
 public:
  ParameterStore() = default;
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  /// The root scope: names without a prefix.
  Scope root();
  /// Throws StateError for a name that exists or after allocate().
  Parameter& add(std::string name, ParameterSpec spec);
  /// Makes the blocks and fills every value from its initializer, keyed by (seed, name). Once.
  void allocate(std::uint64_t seed);
  bool allocated() const { return allocated_; }

  /// In order of registration. Addresses are stable.
  std::deque<Parameter>& parameters() { return parameters_; }
  const std::deque<Parameter>& parameters() const { return parameters_; }
  /// nullptr when there is none of that name.
  Parameter* find(std::string_view name);
  Index size() const;        ///< numbers in all parameters together
  Tensor gradients() const;  ///< all gradients as one vector
  void zero_gradients();

 private:
  std::deque<Parameter> parameters_;
  std::unordered_map<std::string_view, Parameter*> by_name_;
  Storage values_;
  Storage gradients_;
  bool allocated_ = false;
};

/// A place in the tree of names: Scope("blocks/0/attention").
class Scope {
 public:
  Scope(ParameterStore& store, std::string prefix) : store_(&store), prefix_(std::move(prefix)) {}
  Scope scope(std::string_view name) const;
  Scope scope(Index number) const;
  Parameter& add(std::string_view name, ParameterSpec spec) const;
  const std::string& prefix() const { return prefix_; }
  ParameterStore& store() const { return *store_; }

 private:
  ParameterStore* store_;
  std::string prefix_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION

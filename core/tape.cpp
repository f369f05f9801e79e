#include "core/tape.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/parallel.h"

namespace tapeline::inline TAPELINE_PRECISION {

const Tensor& Var::value() const {
  if (node_->value.data == nullptr && node_->passes) [[unlikely]]
    node_->tape->make_again(*node_);
  return node_->value;
}

const Shape& Var::shape() const { return node_->value.shape; }

bool Var::needs_grad() const { return node_->needs_grad; }

Tape& Var::tape() const { return *node_->tape; }

Tensor Var::grad() const {
  const GradientTarget target = grad_target();
  if (target.beta == 0) std::fill_n(target.tensor.data, target.tensor.size(), Real{0});
  return target.tensor;
}

GradientTarget Var::grad_target() const {
  Node& node = *node_;
  if (node.grad != nullptr) return {{node.value.shape, node.grad}, 1};
  require<StateError>(node.needs_grad, "gradient of \"{}\" {}: nothing that wants a gradient went into it",
                      node.op, node.value.shape.text());
  require<StateError>(node.keeps_grad || node.tape->stage_ != Tape::Stage::done,
                      "gradient of \"{}\" {}: it went back to the pool during backward; only variables and "
                      "parameters keep theirs",
                      node.op, node.value.shape.text());
  node.grad = node.tape->gradients_.take(node.value.size());
  return {{node.value.shape, node.grad}, 0};
}

void Var::hand_grad_to(Var input) const {
  Node& from = *node_;
  Node& to = *input.node_;
  require<StateError>(from.grad != nullptr && from.value.size() == to.value.size(),
                      "\"{}\": the gradient {} cannot be handed to {}", from.op, from.value.shape.text(),
                      to.value.shape.text());
  if (to.grad == nullptr && !from.keeps_grad) {
    to.grad = std::exchange(from.grad, nullptr);
    return;
  }
  const GradientTarget target = input.grad_target();
  const Real* source = from.grad;
  Real* sum = target.tensor.data;
  parallel_for(from.value.size(), 1 << 14, [=](Index begin, Index end) {
    if (target.beta == 0) {
      std::copy(source + begin, source + end, sum + begin);
    } else {
      for (Index i = begin; i < end; ++i) sum[i] += source[i];
    }
  });
}

Tape::Tape(Arena& arena, GradientPool& gradients, Recording recording, Watch* watch)
    : arena_(arena), gradients_(gradients), recording_(recording), watch_(watch), start_(arena.mark()) {}

Tape::~Tape() {
  for (Node* node = last_; node != nullptr; node = node->previous) {
    return_grad(*node);
    return_value(*node);
  }
  arena_.rewind(start_);
}

void Tape::return_grad(Node& node) {
  if (node.grad == nullptr || node.parameters != nullptr) return;
  gradients_.give_back(std::exchange(node.grad, nullptr), node.value.size());
}

Tensor Tape::allocate(const Shape& shape) {
  return {shape, arena_.allocate_array<Real>(static_cast<std::size_t>(shape.size()))};
}

Tensor Tape::allocate_passing(const Shape& shape) {
  return recording() ? Tensor{shape, gradients_.take(shape.size())} : allocate(shape);
}

void Tape::forget(Var var) {
  if (var.node_->passes) return_value(*var.node_);
}

void Tape::return_value(Node& node) {
  if (!node.passes || node.value.data == nullptr) return;
  gradients_.give_back(std::exchange(node.value.data, nullptr), node.value.size());
}

void Tape::make_again(Node& node) {
  node.value.data = gradients_.take(node.value.size());
  node.remake(node.remake_rule, node.value);
}

Node* Tape::append(std::string_view op, const Tensor& value, bool needs_grad) {
  Node* node = new (arena_.allocate(sizeof(Node))) Node{};
  node->tape = this;
  node->op = op;
  node->value = value;
  node->needs_grad = needs_grad;
  if (recording()) {
    node->previous = last_;
    last_ = node;
  }
  return node;
}

void Tape::note(Node& node, std::initializer_list<Var> inputs, const OpWork& work) {
  constexpr auto number_bytes = static_cast<Index>(sizeof(Real));
  std::string_view parameter;
  for (const Var input : inputs) {
    if (parameter.empty() && input && input.node_->parameters != nullptr)
      parameter = input.node_->parameters[0]->name();
  }
  watch_->describe(node.value.shape, work.flops, work.numbers * number_bytes, parameter);
  if (node.run == nullptr) return;
  node.note = new (arena_.allocate(sizeof(NodeNote)))
      NodeNote{part_, parameter, work.backward_flops, work.backward_numbers * number_bytes};
}

PartScope::PartScope(Tape& tape, std::string_view name, Index number)
    : tape_(tape),
      outer_(tape.part_),
      scope_(tape.watch(), Timing::Kind::group, Phase::forward, name, number) {
  if (tape.watch() != nullptr && tape.recording())
    tape.part_ = new (tape.arena().allocate(sizeof(Part))) Part{name, number};
}

Var Tape::constant(const Tensor& value) { return Var(append("constant", value, false)); }

Var Tape::variable(const Tensor& value) {
  Node* node = append("variable", value, recording());
  node->keeps_grad = true;
  return Var(node);
}

Node* Tape::append_leaf(const Tensor& value, Real* gradient, Parameter* const* parameters, Index count) {
  Node* node = append("parameter", value, recording());
  if (!recording()) return node;
  auto* kept = arena_.allocate_array<Parameter*>(static_cast<std::size_t>(count));
  auto* versions = arena_.allocate_array<std::uint64_t>(static_cast<std::size_t>(count));
  for (Index p = 0; p < count; ++p) {
    kept[p] = parameters[p];
    versions[p] = parameters[p]->version();
  }
  node->keeps_grad = true;
  node->grad = gradient;
  node->parameters = kept;
  node->versions = versions;
  node->parameter_count = count;
  return node;
}

Var Tape::leaf(Parameter& parameter) {
  require<StateError>(parameter.value().data != nullptr,
                      "parameter \"{}\": it has no memory yet; call allocate() on its store first",
                      parameter.name());
  Parameter* const one = &parameter;
  return Var(append_leaf(parameter.value(), parameter.grad().data, &one, 1));
}

Var Tape::leaf(std::span<Parameter* const> adjacent) {
  require<ShapeError>(!adjacent.empty(), "leaf: an empty list of parameters; at least one is needed");
  const Parameter& first = *adjacent.front();
  require<StateError>(first.value().data != nullptr,
                      "parameter \"{}\": it has no memory yet; call allocate() on its store first",
                      first.name());
  require<ShapeError>(first.shape().rank() >= 1,
                      "leaf: parameter \"{}\" is a single number; it cannot be joined", first.name());
  Index joined = 0;
  const Real* expected = first.value().data;
  for (const Parameter* parameter : adjacent) {
    const Shape& shape = parameter->shape();
    bool fits = shape.rank() == first.shape().rank();
    for (int axis = 1; fits && axis < shape.rank(); ++axis) fits = shape[axis] == first.shape()[axis];
    require<ShapeError>(fits, "leaf: \"{}\" is {}, \"{}\" is {}; all extents but the first must be equal",
                        first.name(), first.shape().text(), parameter->name(), shape.text());
    require<StateError>(
        parameter->value().data == expected,
        "leaf: \"{}\" does not stand right after its forerunner in memory; register them one after "
        "another in the order of this list",
        parameter->name());
    joined += shape[0];
    expected += shape.size();
  }
  const Shape& s = first.shape();
  const Shape all = s.rank() == 1   ? Shape{joined}
                    : s.rank() == 2 ? Shape{joined, s[1]}
                    : s.rank() == 3 ? Shape{joined, s[1], s[2]}
                                    : Shape{joined, s[1], s[2], s[3]};
  return Var(append_leaf({all, first.value().data}, first.grad().data, adjacent.data(),
                         static_cast<Index>(adjacent.size())));
}

void Tape::check_leaves() const {
  for (const Node* node = last_; node != nullptr; node = node->previous) {
    for (Index p = 0; p < node->parameter_count; ++p) {
      require<StateError>(
          node->parameters[p]->version() == node->versions[p],
          "backward: parameter \"{}\" has changed since it was recorded; run backward before the "
          "update, or record again",
          node->parameters[p]->name());
    }
  }
}

void Tape::backward(Var root, Real seed) {
  require<StateError>(recording(), "backward: this tape records nothing; make it with Recording::on");
  require<StateError>(stage_ == Stage::forward, "backward: it has already run on this tape; record again");
  require<ShapeError>(root && root.node_->tape == this && root.value().size() == 1,
                      "backward: the root is {}; it must be a single number on this tape",
                      root ? root.shape().text() : "absent");
  check_leaves();
  stage_ = Stage::backward;
  if (root.needs_grad()) *root.grad().data += seed;
  run_rules(root.node_);
  stage_ = Stage::done;
}

namespace {

/// The part of the model whose rules run, as a group of the watch.
class RunningPart {
 public:
  explicit RunningPart(Watch* watch) : watch_(watch) {}
  ~RunningPart() { enter(nullptr); }
  RunningPart(const RunningPart&) = delete;
  RunningPart& operator=(const RunningPart&) = delete;

  void enter(const Part* part) {
    if (part == part_) return;
    if (part_ != nullptr) watch_->end();
    part_ = part;
    if (part_ != nullptr) watch_->begin(Timing::Kind::group, Phase::backward, part_->name, part_->number);
  }

 private:
  Watch* watch_;
  const Part* part_ = nullptr;
};

}  // namespace

// Creation order is a topological order: every use of a node was recorded after it, so its gradient is
// complete when the walk comes by.
void Tape::run_rules(Node* from) {
  RunningPart part(watch_);
  for (Node* node = from; node != nullptr; node = node->previous) {
    if (node->grad == nullptr || node->run == nullptr) continue;
    if (node->note != nullptr) [[unlikely]]
      part.enter(node->note->part);
    {
      const ArenaScope scratch(arena_);
      const WatchScope rule(watch_, Timing::Kind::op, Phase::backward, node->op);
      node->run(node->rule, Var(node));
      if (node->note != nullptr) [[unlikely]]
        watch_->describe(node->value.shape, node->note->flops, node->note->bytes, node->note->parameter);
    }
    if (!node->keeps_grad) return_grad(*node);
    return_value(*node);
  }
}

}  // namespace tapeline::inline TAPELINE_PRECISION

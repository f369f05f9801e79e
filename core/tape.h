#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

#include "core/arena.h"
#include "core/gradient_pool.h"
#include "core/parameter.h"
#include "core/tensor.h"
#include "core/watch.h"

namespace tapeline::inline TAPELINE_PRECISION {

class Tape;
struct Node;

/// Where a rule puts an input's gradient. With beta 0 the memory is fresh and uninitialised and the rule must
/// write every element; with beta 1 it must add.
struct GradientTarget {
  Tensor tensor;
  Real beta = 0;
};

/// A handle to a value on the tape: one pointer, trivially copyable; a default one is absent.
class Var {
 public:
  Var() = default;

  explicit operator bool() const { return node_ != nullptr; }
  /// Of a value that has been forgotten: made again.
  const Tensor& value() const;
  const Shape& shape() const;
  /// Whether a gradient is wanted here: a rule skips the inputs that want none.
  bool needs_grad() const;
  /// The gradient, zeroed on first use; add to it.
  Tensor grad() const;
  /// The gradient for a rule that can overwrite: spares the zeroing and one read when it is the first to
  /// arrive.
  GradientTarget grad_target() const;
  /// Adds this node's gradient to that of `input`, which has as many elements; where none has arrived there
  /// yet, the memory itself is handed over. For the last statement of a rule: the gradient is gone
  /// afterwards.
  void hand_grad_to(Var input) const;
  Tape& tape() const;

 private:
  friend class Tape;
  explicit Var(Node* node) : node_(node) {}
  Node* node_ = nullptr;
};

/// A gradient rule is a callable kept in the arena: it reads output.grad() and adds to the gradients of the
/// inputs it captured. No destructor is ever run, so it may own nothing.
template <class F>
concept BackwardRule =
    std::invocable<const F&, Var> && std::is_trivially_destructible_v<F> && std::is_trivially_copyable_v<F>;

/// A part of the model ("block", 3) that the ops recorded in a PartScope belong to.
struct Part {
  std::string_view name;
  Index number = -1;
};

/// What a watch wants to know of a node when its rule runs.
struct NodeNote {
  const Part* part = nullptr;
  std::string_view parameter;
  Index flops = 0, bytes = 0;
};

/// One recorded operation.
struct Node {
  Node* previous = nullptr;  // the node recorded before this one
  Tape* tape = nullptr;
  std::string_view op;
  Tensor value;
  Real* grad = nullptr;  // from the pool, or a parameter's own
  bool needs_grad = false;
  bool keeps_grad = false;                 // parameters and retained values: not returned to the pool
  bool passes = false;                     // the value's memory is the pool's; null data: forgotten
  Parameter* const* parameters = nullptr;  // leaves: whose version is checked before the backward run
  const std::uint64_t* versions = nullptr;
  Index parameter_count = 0;
  const void* rule = nullptr;
  void (*run)(const void* rule, Var output) = nullptr;
  const void* remake_rule = nullptr;  // of a value that passes
  void (*remake)(const void* rule, const Tensor& value) = nullptr;
  const NodeNote* note = nullptr;  // only while watched
};

enum class Recording : bool { off, on };

/// The record of one forward run, in order of creation, which is a topological order: backward() walks it
/// from the last node to the first, and a node's rule runs once, when its gradient is complete. Everything
/// lives in the arena, which is rewound when the tape ends. With Recording::off ops compute values only. A
/// watch, where given, is told of every op: its forward run from its OpScope, its gradient rule from here.
class Tape {
 public:
  Tape(Arena& arena, GradientPool& gradients, Recording recording = Recording::on, Watch* watch = nullptr);
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  bool recording() const { return recording_ == Recording::on; }
  bool running_backward() const { return stage_ == Stage::backward; }
  Arena& arena() const { return arena_; }
  Watch* watch() const { return watch_; }

  /// Uninitialised memory for a result; lives as long as the tape.
  Tensor allocate(const Shape& shape);
  /// The same for a value that passes: see forget().
  Tensor allocate_passing(const Shape& shape);

  /// Declares that `var`, whose memory is allocate_passing()'s, can be made again: `remake` (value) fills it
  /// as the op has filled it. On a tape that records only.
  template <class F>
  requires std::invocable<const F&, const Tensor&> && std::is_trivially_copyable_v<F>
  void passing(Var var, F remake) {
    Node* const node = var.node_;
    node->passes = true;
    node->remake_rule = new (arena_.allocate(sizeof(F))) F(remake);
    node->remake = [](const void* kept, const Tensor& value) { (*static_cast<const F*>(kept))(value); };
  }
  /// A passing value is not read again before the backward run: its memory goes to whoever needs some next,
  /// and it is made again when a rule asks for it. Of any other value nothing happens. Spares the memory of
  /// what is cheap to compute (the results of norms), where all that reads it asks its Var again in the
  /// backward run, as linear() and its kin do.
  void forget(Var var);

  /// A value without gradient; the memory stays the caller's and must not change before the tape ends.
  Var constant(const Tensor& value);
  /// A value whose gradient is kept for the caller to read after backward() (tests, inspection).
  Var variable(const Tensor& value);
  /// A parameter; its gradient is the parameter's own, so uses and micro-batches add up there.
  Var leaf(Parameter& parameter);
  /// Parameters that stand one after another in memory, as one tensor [sum of first extents, rest]: one
  /// product then serves query, key and value. Throws StateError when they are not adjacent, ShapeError when
  /// they differ in anything but the first extent.
  Var leaf(std::span<Parameter* const> adjacent);

  /// Appends a node. The rule is kept only when recording and some present input needs a gradient. `work` is
  /// for a watch.
  template <BackwardRule F>
  Var record(std::string_view op, const Tensor& value, std::initializer_list<Var> inputs, const OpWork& work,
             F rule) {
    bool needed = false;
    if (recording()) {
      for (const Var input : inputs) needed = needed || (input && input.needs_grad());
    }
    Node* node = append(op, value, needed);
    if (needed) {
      node->rule = new (arena_.allocate(sizeof(F))) F(rule);
      node->run = [](const void* kept, Var output) { (*static_cast<const F*>(kept))(output); };
    }
    if (watch_ != nullptr) [[unlikely]]
      note(*node, inputs, work);
    return Var(node);
  }

  template <BackwardRule F>
  Var record(std::string_view op, const Tensor& value, std::initializer_list<Var> inputs, F rule) {
    return record(op, value, inputs, OpWork{}, rule);
  }

  /// Runs the rules from `root`, a single number, with gradient `seed`. Scratch that a rule takes from the
  /// arena is given back after it; the gradient of a node goes back to the pool when its rule has run. Once
  /// for each tape. Throws StateError on a second call or when a recorded parameter has changed since,
  /// ShapeError for a root that is no single number.
  void backward(Var root, Real seed = 1);

 private:
  friend class Var;
  friend class PartScope;
  enum class Stage { forward, backward, done };
  Node* append(std::string_view op, const Tensor& value, bool needs_grad);
  Node* append_leaf(const Tensor& value, Real* gradient, Parameter* const* parameters, Index count);
  void check_leaves() const;
  void note(Node& node, std::initializer_list<Var> inputs, const OpWork& work);
  void run_rules(Node* from);
  void return_grad(Node& node);
  void return_value(Node& node);
  void make_again(Node& node);

  Arena& arena_;
  GradientPool& gradients_;
  Recording recording_;
  Watch* watch_;
  const Part* part_ = nullptr;
  Arena::Mark start_;
  Node* last_ = nullptr;
  Stage stage_ = Stage::forward;
};

/// Stands at the top of an op, before it computes: what a watch sees as its forward run, to the end of the
/// scope. An op without one is seen backward only.
class OpScope {
 public:
  OpScope(const Tape& tape, std::string_view op)
      : scope_(tape.watch(), Timing::Kind::op, Phase::forward, op) {}

 private:
  WatchScope scope_;
};

/// The ops recorded in this scope belong to a part of the model: a group for whoever watches, forward and,
/// the innermost part, backward again.
class PartScope {
 public:
  PartScope(Tape& tape, std::string_view name, Index number = -1);
  ~PartScope() { tape_.part_ = outer_; }
  PartScope(const PartScope&) = delete;
  PartScope& operator=(const PartScope&) = delete;

 private:
  Tape& tape_;
  const Part* outer_;
  WatchScope scope_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION

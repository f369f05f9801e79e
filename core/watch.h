#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/index.h"
#include "core/shape.h"

namespace tapeline {

/// What an op does, stated where it is recorded. Floating-point operations are those of matrix products and
/// of attention's pairs that are seen, a multiplication and an addition being two. Numbers are those of the
/// tensors that it reads and writes, each operand once, whatever a cache holds; its scratch is not counted.
struct OpWork {
  Index flops = 0, numbers = 0;                    ///< forward
  Index backward_flops = 0, backward_numbers = 0;  ///< of the gradient rule
};

enum class Phase { step, data, forward, backward, optimizer };
std::string_view phase_name(Phase phase);

/// When something began and ended, and what it did.
struct Timing {
  enum class Kind { group, op };
  std::string_view name;  ///< "linear", "block"
  Kind kind = Kind::op;
  Phase phase = Phase::step;
  Index number = -1;                ///< which of its name (block 3); -1: there is one
  Index parent = -1;                ///< the place of the one that it stands in
  std::int64_t begin = 0, end = 0;  ///< nanoseconds of the steady clock
  Shape shape;                      ///< of the result
  std::string_view parameter;       ///< the first parameter that it reads
  Index flops = 0, bytes = 0;
};

/// Keeps the times of a step and of everything in it, as they nest: ops, and groups of them. What is watched
/// gets a pointer to it, null when nobody watches, and costs a branch then. For one thread, the one that
/// runs the step. Names must live as long as they are read: literals, parameters' names.
class Watch {
 public:
  static constexpr std::size_t default_room = std::size_t{1} << 12;

  /// Takes from the heap only past `room` timings.
  explicit Watch(std::size_t room = default_room) { timings_.reserve(room); }

  void begin(Timing::Kind kind, Phase phase, std::string_view name, Index number = -1);
  void end();
  /// What the innermost one that is open does, if it is an op. Of several results the last shape is kept;
  /// operations and bytes add up.
  void describe(const Shape& shape, Index flops, Index bytes, std::string_view parameter = {});

  /// In the order of their beginnings: whatever contains another one comes before it.
  const std::vector<Timing>& timings() const { return timings_; }
  /// Forgets all of them; the memory stays. None may be open.
  void clear();

 private:
  std::vector<Timing> timings_;
  Index open_ = -1;  // the innermost
};

/// One timing, from here to the end of the scope. Without a watch nothing.
class WatchScope {
 public:
  WatchScope(Watch* watch, Timing::Kind kind, Phase phase, std::string_view name, Index number = -1)
      : watch_(watch) {
    if (watch_ != nullptr) [[unlikely]]
      watch_->begin(kind, phase, name, number);
  }
  ~WatchScope() {
    if (watch_ != nullptr) [[unlikely]]
      watch_->end();
  }
  /// See Watch::describe.
  void describe(const Shape& shape, Index flops, Index bytes, std::string_view parameter = {}) const {
    if (watch_ != nullptr) [[unlikely]]
      watch_->describe(shape, flops, bytes, parameter);
  }
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;

 private:
  Watch* watch_;
};

}  // namespace tapeline

#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "core/attention.h"
#include "core/tape.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// One run of a model over one batch of windows: the tape, what is drawn at random, how long the context is
/// declared to become, and what is made once a pass and used by every layer. It ends with its tape.
class Pass {
  struct Made;

 public:
  explicit Pass(Tape& on) : tape(on) {}

  Tape& tape;
  /// Training only: rate and key of the step, first sequence of the micro-batch. Absent: no dropout of any
  /// kind.
  std::optional<Dropout> dropout;
  /// The length that length-dependent encodings take as given: the window in evaluation, prompt + requested
  /// tokens in generation. 0: the rows of this pass.
  Index declared_context = 0;
  /// The key of a randomized draw of positions: the same in all passes that must agree (the micro-batches of
  /// a step, the chunks of a window).
  RandomKey position_key{};
  /// Filled by each attention layer when given (one for each layer).
  std::span<AttentionProbe> probes{};
  /// The most last keys that a row sees, itself counted, where the model's own window is not narrower: what a
  /// long window gives a model that cannot look farther than it was trained to. 0: as the model has it.
  Index key_limit = 0;
  /// Added to the position of every row: a text that begins in the middle of a longer one, and the test that
  /// relative encodings do not care.
  Index position_shift = 0;

  /// The length that a length-dependent encoding takes for queries in these rows: as declared, else up to the
  /// last of them.
  Index context_length(const Positions& queries) const {
    return declared_context > 0 ? declared_context : queries.begin + queries.count;
  }

  /// Uninitialised room for `count` row numbers or positions, in the memory of the pass.
  std::span<Index> indices(Index count) const {
    const auto size = static_cast<std::size_t>(count);
    return {tape.arena().allocate_array<Index>(size), size};
  }

  /// The dropout of one place in the model ("embedding", layer 3's attention): the same rate, a key of its
  /// own.
  Dropout dropout_at(std::string_view place, Index layer) const;

  /// What is made once a pass: returns the value kept for (owner, slot) and its type, a Var or a span in the
  /// memory of the pass, made by `make()` at the first call.
  template <class Make, class Value = std::invoke_result_t<Make&>>
  Value once(const void* owner, Index slot, Make&& make) {
    static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>);
    for (const Made* made = made_; made != nullptr; made = made->next) {
      if (made->owner == owner && made->slot == slot && made->type == &type_tag<Value>)
        return *static_cast<const Value*>(made->value);
    }
    const Value* const value = new (tape.arena().allocate(sizeof(Value))) Value(make());
    made_ = new (tape.arena().allocate(sizeof(Made))) Made{owner, slot, &type_tag<Value>, value, made_};
    return *value;
  }

  /// At its end gives back all memory taken inside it, and forgets what was made once inside it. Only on a
  /// tape that does not record.
  class Scratch {
   public:
    explicit Scratch(Pass& pass);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

   private:
    Pass& pass_;
    Arena::Mark mark_;
    const Made* made_;
  };

 private:
  template <class>
  static constexpr char type_tag = 0;  // its address tells types apart

  struct Made {  // a list in the arena: a step allocates nothing
    const void* owner;
    Index slot;
    const char* type;
    const void* value;
    const Made* next;
  };
  const Made* made_ = nullptr;
};

}  // namespace tapeline::inline TAPELINE_PRECISION

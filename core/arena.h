#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace tapeline {

/// Memory that is taken by moving a pointer and given back all at once. Blocks double in size and are kept,
/// so a step that needs no more than an earlier one allocates nothing. Memory given back is poisoned for the
/// address sanitizer: a tensor that outlives its step is caught there.
class Arena {
 public:
  /// Every allocation is aligned to this many bytes (a cache line, the widest vector).
  static constexpr std::size_t alignment = 64;

  /// `purpose` stands in the error when there is no memory left; a literal.
  explicit Arena(std::size_t first_block_bytes = std::size_t{1} << 20,
                 const char* purpose = "the activations");
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A place in the arena; rewinding to it gives back everything taken since.
  struct Mark {
    std::size_t block = 0;
    std::size_t offset = 0;
  };

  /// `bytes` of uninitialised memory, aligned. Zero bytes give a valid, non-null pointer. Throws MemoryError.
  void* allocate(std::size_t bytes);
  /// Uninitialised room for `count` objects, which are never destroyed.
  template <class T>
  T* allocate_array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
    return static_cast<T*>(allocate(count * sizeof(T)));
  }

  Mark mark() const { return current_; }
  void rewind(Mark mark);

  /// Bytes taken now, and the most that were ever taken at once (block remainders included).
  std::size_t used_bytes() const;
  std::size_t peak_bytes() const { return peak_bytes_; }
  /// Bytes held from the system.
  std::size_t reserved_bytes() const;

 private:
  struct Block {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
  };

  void add_block(std::size_t at_least);

  const char* purpose_;
  std::vector<Block> blocks_;
  Mark current_;
  std::size_t peak_bytes_ = 0;
};

/// Gives back, at the end of a scope, what was taken from the arena inside it.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) : arena_(arena), mark_(arena.mark()) {}
  ~ArenaScope() { arena_.rewind(mark_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  Arena::Mark mark_;
};

}  // namespace tapeline

#include "core/arena.h"

#include <algorithm>
#include <cstdlib>

#include "core/fresh_memory.h"
#include "core/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace tapeline {
namespace {

#if defined(__SANITIZE_ADDRESS__)
// A gap between neighbours, so that writing past the end of one is seen as well.
constexpr std::size_t red_zone = Arena::alignment;
void poison(const std::byte* memory, std::size_t bytes) { __asan_poison_memory_region(memory, bytes); }
void unpoison(const void* memory, std::size_t bytes) { __asan_unpoison_memory_region(memory, bytes); }
#else
constexpr std::size_t red_zone = 0;
void poison(const std::byte*, std::size_t) {}
void unpoison(const void*, std::size_t) {}
#endif

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

Arena::Arena(std::size_t first_block_bytes, const char* purpose) : purpose_(purpose) {
  add_block(first_block_bytes);
}

Arena::~Arena() {
  for (const Block& block : blocks_) {
    unpoison(block.memory, block.bytes);
    std::free(block.memory);
  }
}

void Arena::add_block(std::size_t at_least) {
  const std::size_t doubled = blocks_.empty() ? 0 : 2 * blocks_.back().bytes;
  const std::size_t wanted = std::max({at_least, doubled, alignment});
  const std::size_t bytes = round_up(wanted, alignment);
  blocks_.reserve(blocks_.size() + 1);
  auto* memory = static_cast<std::byte*>(allocate_memory(bytes));
  if (memory == nullptr) fail_memory(purpose_, bytes);
  poison(memory, bytes);
  blocks_.push_back({memory, bytes});
}

void* Arena::allocate(std::size_t bytes) {
  const std::size_t room = round_up(std::max<std::size_t>(bytes, 1), alignment) + red_zone;
  // What is left of a block that is too small stays unused until the next rewind.
  while (room > blocks_[current_.block].bytes - current_.offset) {
    if (current_.block + 1 == blocks_.size()) add_block(room);
    ++current_.block;
    current_.offset = 0;
  }
  std::byte* memory = blocks_[current_.block].memory + current_.offset;
  current_.offset += room;
  peak_bytes_ = std::max(peak_bytes_, used_bytes());
  unpoison(memory, bytes);
  mark_fresh_memory(memory, bytes);
  return memory;
}

void Arena::rewind(Mark mark) {
  for (std::size_t b = mark.block; b <= current_.block; ++b) {
    const std::size_t from = b == mark.block ? mark.offset : 0;
    const std::size_t to = b == current_.block ? current_.offset : blocks_[b].bytes;
    if (from < to) poison(blocks_[b].memory + from, to - from);
  }
  current_ = mark;
}

std::size_t Arena::used_bytes() const {
  std::size_t bytes = current_.offset;
  for (std::size_t b = 0; b < current_.block; ++b) bytes += blocks_[b].bytes;
  return bytes;
}

std::size_t Arena::reserved_bytes() const {
  std::size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.bytes;
  return bytes;
}

}  // namespace tapeline

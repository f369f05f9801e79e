#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/arena.h"
#include "core/fresh_memory.h"
#include "core/index.h"
#include "core/memory.h"

using tapeline::Arena;
using tapeline::ArenaScope;
using tapeline::Index;

TEST_CASE("arena: every allocation is aligned, apart from its neighbours and usable in full") {
  Arena arena(1 << 10);
  std::vector<std::pair<unsigned char*, std::size_t>> taken;
  for (const std::size_t bytes : {1u, 63u, 64u, 65u, 700u, 5000u, 3u}) {
    auto* memory = static_cast<unsigned char*>(arena.allocate(bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % Arena::alignment == 0);
    // Each piece has a mark of its own: a piece that lay on another would wipe that one's out.
    std::memset(memory, static_cast<int>(taken.size() + 1), bytes);
    taken.emplace_back(memory, bytes);
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const auto [memory, bytes] = taken[i];
    CHECK(std::count(memory, memory + bytes, static_cast<unsigned char>(i + 1)) == static_cast<Index>(bytes));
  }
  CHECK(arena.allocate(0) != nullptr);
}

TEST_CASE("arena: rewinding gives the same memory again and reserves nothing more") {
  Arena arena(1 << 10);
  const auto fill = [&] {
    void* first = arena.allocate(100);
    for (int i = 0; i < 50; ++i) std::memset(arena.allocate(300), i, 300);
    arena.allocate(100000);
    return first;
  };
  const Arena::Mark start = arena.mark();
  void* first = fill();
  const std::size_t reserved = arena.reserved_bytes(), peak = arena.peak_bytes();
  CHECK(arena.used_bytes() == peak);
  CHECK(peak >= 100 + 50 * 300 + 100000);
  for (int step = 0; step < 3; ++step) {
    arena.rewind(start);
    CHECK(arena.used_bytes() == 0);
    CHECK(fill() == first);
  }
  CHECK(arena.reserved_bytes() == reserved);
  CHECK(arena.peak_bytes() == peak);
}

TEST_CASE("arena: what an outer scope holds survives the inner one") {
  Arena arena(256);
  auto* kept = arena.allocate_array<int>(10);
  for (int i = 0; i < 10; ++i) kept[i] = i;
  const std::size_t used = arena.used_bytes();
  {
    const ArenaScope scope(arena);
    std::memset(arena.allocate(10000), 0xff, 10000);
    CHECK(arena.used_bytes() > used);
  }
  CHECK(arena.used_bytes() == used);
  for (int i = 0; i < 10; ++i) CHECK(kept[i] == i);
}

TEST_CASE("allocate_memory: aligned, large pieces to huge pages; null for what cannot be had") {
  using namespace tapeline;
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 1000, 4 << 20, (4 << 20) + 1}) {
    CAPTURE(bytes);
    void* const memory = allocate_memory(bytes);
    REQUIRE(memory != nullptr);
    const std::size_t alignment = bytes >= (4 << 20) ? 2 << 20 : memory_alignment;
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % alignment == 0);
    std::memset(memory, 1, bytes);
    std::free(memory);
  }
  CHECK(allocate_memory(std::numeric_limits<std::size_t>::max()) == nullptr);
  CHECK(allocate_memory(std::numeric_limits<std::size_t>::max() - 1000) == nullptr);
}

TEST_CASE("arena: fresh memory holds nothing useful, also where it was used before") {
  Arena arena(256);
  for (int step = 0; step < 2; ++step) {
    const ArenaScope scope(arena);
    auto* numbers = arena.allocate_array<float>(100);
    for (int i = 0; i < 100; ++i) CHECK(std::isnan(numbers[i]));
    for (int i = 0; i < 100; ++i) numbers[i] = 1;
  }
  tapeline::fill_fresh_memory(false);
  auto* numbers = arena.allocate_array<float>(100);
  tapeline::fill_fresh_memory(true);
  CHECK(numbers[99] == 1);
}

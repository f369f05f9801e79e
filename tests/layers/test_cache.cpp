#include <doctest/doctest.h>

#include <vector>

#include "core/error.h"
#include "layers/cache.h"
#include "tests/support/reference.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Rows [begin, begin + count) of a sequence whose key is its row number and whose value is minus that, plus
/// a tenth of the head's number: [batch, heads, count, 2].
Storage rows_of(Index batch, Index heads, Index begin, Index count, double sign) {
  Storage rows({batch, heads, count, 2});
  for (Index head = 0; head < batch * heads; ++head) {
    for (Index row = 0; row < count; ++row) {
      for (Index d = 0; d < 2; ++d) {
        rows.data()[(head * count + row) * 2 + d] =
            static_cast<Real>(sign * static_cast<double>(begin + row) + 0.125 * static_cast<double>(head));
      }
    }
  }
  return rows;
}

/// Appends rows to both layers and checks that what the queries may see is what `key_rows` announced.
void append_and_check(KeyValueCache& cache, Index batch, Index heads, Index count) {
  const Index begin = cache.length();
  const Positions announced = cache.key_rows(count);
  for (Index layer = 0; layer < 2; ++layer) {
    const Storage k = rows_of(batch, heads, begin, count, 1), v = rows_of(batch, heads, begin, count, -1);
    const CachedKeyValues seen = cache.append(layer, k.tensor(), v.tensor());
    REQUIRE(seen.rows == announced.count);
    for (Index head = 0; head < batch * heads; ++head) {
      for (Index row = 0; row < seen.rows; ++row) {
        const Index at = head * seen.head_stride + row * seen.width;
        const double number = static_cast<double>(announced.at(row));
        const double shift = 0.125 * static_cast<double>(head);
        REQUIRE(static_cast<double>(seen.keys[at]) == number + shift);
        REQUIRE(static_cast<double>(seen.values[at + 1]) == -number + shift);
      }
    }
  }
  CHECK(cache.length() == begin + count);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("cache: keeps every row of every head through growth") {
  KeyValueCache cache(2, 2, 3, 2, {});
  for (const Index count : {1, 5, 1, 1, 30, 2}) append_and_check(cache, 2, 3, count);
  CHECK(cache.length() == 40);
  const std::size_t bytes = cache.bytes();
  cache.clear();
  CHECK(cache.length() == 0);
  append_and_check(cache, 2, 3, 40);
  CHECK(cache.bytes() == bytes);
}

TEST_CASE("cache: a window keeps the sinks and enough rows for the first coming query") {
  const Index window = 4, sinks = 2;
  for (const std::vector<Index>& chunks :
       {std::vector<Index>(60, 1), std::vector<Index>{7, 1, 9, 1, 1, 1, 12, 20, 8}}) {
    KeyValueCache cache(2, 1, 1, 2, {.causal = true, .window = window, .sinks = sinks});
    for (const Index count : chunks) {
      const Index begin = cache.length();
      const Positions rows = cache.key_rows(count);
      // All the keys that the window or the sinks show to any coming query are there.
      std::vector<Index> held;
      for (Index row = 0; row < rows.count; ++row) held.push_back(rows.at(row));
      for (Index key = 0; key < begin + count; ++key) {
        const bool wanted = key < sinks || key > begin - window;
        const bool present = std::find(held.begin(), held.end(), key) != held.end();
        if (wanted) REQUIRE(present);
      }
      append_and_check(cache, 1, 1, count);
    }
    CHECK(cache.bytes() < 4 * 64 * sizeof(Real) * 2);  // far below the 60 rows seen, times 2 layers
  }
}

TEST_CASE("cache: memory stays within a few windows however long the text") {
  KeyValueCache cache(2, 1, 1, 2, {.causal = true, .window = 8, .sinks = 1});
  for (Index step = 0; step < 5000; ++step) append_and_check(cache, 1, 1, 1);
  CHECK(cache.bytes() <= std::size_t{2 * 2 * 2} * 32 * sizeof(Real));
}

TEST_CASE("cache: calls out of order and shapes that do not fit are refused") {
  KeyValueCache cache(2, 1, 1, 2, {});
  const Storage rows = rows_of(1, 1, 0, 3, 1), other = rows_of(1, 1, 0, 4, 1);
  CHECK_THROWS_AS(cache.append(1, rows.tensor(), rows.tensor()), StateError);
  CHECK_THROWS_AS(cache.append(0, rows.tensor(), other.tensor()), ShapeError);
  cache.append(0, rows.tensor(), rows.tensor());
  CHECK_THROWS_AS(cache.key_rows(1), StateError);
  CHECK_THROWS_AS(cache.append(1, other.tensor(), other.tensor()), ShapeError);
  cache.clear();
  append_and_check(cache, 1, 1, 4);
  CHECK_THROWS_AS(cache.key_rows(0), ShapeError);
  CHECK_THROWS_AS(KeyValueCache(0, 1, 1, 2, {}), ShapeError);
}

TEST_CASE("cache: one sequence becomes several that hold its rows, and go on each by itself") {
  for (const KeyMask mask : {KeyMask{}, KeyMask{.causal = true, .window = 4, .sinks = 1}}) {
    KeyValueCache cache(2, 1, 3, 2, mask);
    for (const Index count : {5, 1, 7}) append_and_check(cache, 1, 3, count);
    cache.repeat(4);
    CHECK(cache.batch() == 4);
    CHECK(cache.length() == 13);
    const Positions announced = cache.key_rows(2);
    const Storage k = rows_of(4, 3, 13, 2, 1), v = rows_of(4, 3, 13, 2, -1);
    for (Index layer = 0; layer < 2; ++layer) {
      const CachedKeyValues seen = cache.append(layer, k.tensor(), v.tensor());
      CHECK(seen.batch == 4);
      for (Index head = 0; head < 12; ++head) {
        for (Index row = 0; row < seen.rows; ++row) {
          const Index number = announced.at(row), at = head * seen.head_stride + row * seen.width;
          const double shift = 0.125 * static_cast<double>(number < 13 ? head % 3 : head);
          REQUIRE(static_cast<double>(seen.keys[at]) == static_cast<double>(number) + shift);
          REQUIRE(static_cast<double>(seen.values[at + 1]) == -static_cast<double>(number) + shift);
        }
      }
    }
    CHECK_THROWS_AS(cache.repeat(5), StateError);
    CHECK_THROWS_AS(KeyValueCache(1, 1, 1, 1, mask).repeat(0), ShapeError);
  }
}

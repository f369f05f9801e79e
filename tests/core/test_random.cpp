#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "core/dropout_counter.h"
#include "core/error.h"
#include "core/random.h"

using namespace tapeline;

TEST_CASE("random: Philox 4x32-10 gives the published numbers") {
  CHECK(random_block({0}, 0, 0) ==
        std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  CHECK(random_block({ones}, ones, ones) ==
        std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
}

TEST_CASE("random: keys differ by seed, name, number and kind of child; seed 0 is a seed like any other") {
  const RandomKey zero = random_key(0, "order");
  std::set<std::uint64_t> keys{zero.value,
                               random_key(1, "order").value,
                               random_key(0, "dropout").value,
                               zero.child(std::uint64_t{0}).value,
                               zero.child(std::uint64_t{1}).value,
                               zero.child("0").value,
                               zero.child("").value,
                               zero.child(std::string_view("\0\0\0\0\0\0\0\0", 8)).value};
  CHECK(keys.size() == 8);
  CHECK(random_key(0, "order").value == zero.value);
}

TEST_CASE("random: uniform numbers lie in [0, 1) with the right mean and variance") {
  const RandomKey key = random_key(3, "uniform");
  double sum = 0, squares = 0;
  constexpr int count = 20000;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double u = random_uniform(key, i);
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u;
    squares += u * u;
  }
  CHECK(std::abs(sum / count - 0.5) < 0.01);
  CHECK(std::abs(squares / count - 1.0 / 3) < 0.01);
}

TEST_CASE("random: normal numbers have mean 0, variance 1 and the tails of a normal") {
  const RandomKey key = random_key(3, "normal");
  double sum = 0, squares = 0;
  int beyond_two = 0;
  constexpr int count = 40000;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double z = random_normal(key, i);
    REQUIRE(std::isfinite(z));
    sum += z;
    squares += z * z;
    beyond_two += std::abs(z) > 2 ? 1 : 0;
  }
  CHECK(std::abs(sum / count) < 0.02);
  CHECK(std::abs(squares / count - 1) < 0.03);
  CHECK(std::abs(beyond_two / double{count} - 0.0455) < 0.005);
}

TEST_CASE("random: below a bound every value is as likely as any other") {
  const RandomKey key = random_key(3, "below");
  std::array<int, 7> seen{};
  for (std::uint64_t i = 0; i < 14000; ++i) ++seen.at(random_below(key, i, 7));
  for (const int count : seen) CHECK(std::abs(count - 2000) < 200);
  CHECK(random_below(key, 5, 1) == 0);
  // Three quarters of 2^64: a quarter of the draws is rejected; the halves must still be even.
  int low = 0;
  constexpr std::uint64_t bound = std::uint64_t{3} << 62;
  for (std::uint64_t i = 0; i < 4000; ++i) low += random_below(key, i, bound) < bound / 2 ? 1 : 0;
  CHECK(std::abs(low - 2000) < 150);
  CHECK_THROWS_AS(random_below(key, 0, 0), ShapeError);
}

TEST_CASE("random: a permutation hits every place once, and differs by key") {
  for (const Index count : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 63, 64, 65, 100, 255, 257, 1000, 4097}) {
    std::vector<bool> hit(static_cast<std::size_t>(count), false);
    for (Index place = 0; place < count; ++place) {
      const Index to = random_permutation(random_key(5, "order"), place, count);
      REQUIRE(to >= 0);
      REQUIRE(to < count);
      REQUIRE_FALSE(hit[static_cast<std::size_t>(to)]);
      hit[static_cast<std::size_t>(to)] = true;
    }
  }
  Index fixed = 0, equal = 0;
  for (Index place = 0; place < 1000; ++place) {
    const Index to = random_permutation(random_key(5, "order"), place, 1000);
    fixed += to == place ? 1 : 0;
    equal += to == random_permutation(random_key(6, "order"), place, 1000) ? 1 : 0;
  }
  CHECK(fixed < 10);
  CHECK(equal < 10);
  CHECK_THROWS_AS(random_permutation({1}, 3, 3), ShapeError);
  CHECK_THROWS_AS(random_permutation({1}, -1, 3), ShapeError);
}

TEST_CASE("random: every permutation of three occurs about as often") {
  std::array<int, 27> seen{};
  for (std::uint64_t seed = 0; seed < 1200; ++seed) {
    const RandomKey key = random_key(seed, "three");
    const Index a = random_permutation(key, 0, 3), b = random_permutation(key, 1, 3),
                c = random_permutation(key, 2, 3);
    ++seen.at(static_cast<std::size_t>(9 * a + 3 * b + c));
  }
  int kinds = 0;
  for (const int count : seen) {
    if (count == 0) continue;
    ++kinds;
    CHECK(std::abs(count - 200) < 80);
  }
  CHECK(kinds == 6);
}

TEST_CASE("random: blocks in bulk are the single ones, also across the carry of the counter") {
  const RandomKey key = random_key(2, "bulk");
  for (const std::uint64_t counter : {std::uint64_t{0}, std::uint64_t{0xfffffffe}, ~std::uint64_t{0} - 4}) {
    for (const std::size_t count : {0u, 1u, 2u, 7u, 16u, 33u}) {
      std::vector<std::uint32_t> words(4 * count + 1, 12345);
      random_blocks(key, counter, 0x700000005, count, words.data());
      for (std::size_t block = 0; block < count; ++block) {
        const auto expected = random_block(key, counter + block, 0x700000005);
        REQUIRE(std::equal(expected.begin(), expected.end(),
                           words.begin() + static_cast<std::ptrdiff_t>(4 * block)));
      }
      CHECK(words.back() == 12345);
    }
  }
}

TEST_CASE("dropout counter: the bits are those of random_block, wherever a run begins and ends") {
  const RandomKey key = random_key(9, "dropout");
  const double rate = 0.375;
  const DropoutCounter counter(key, rate);
  for (const Index first : {0, 1, 3, 4, 30, 31, 33}) {
    for (const Index count : {1, 2, 4, 31, 32, 33, 70}) {
      std::vector<double> factors(static_cast<std::size_t>(count), -1);
      counter.factors(5, 3, 17, first, count, factors.data());
      for (Index c = 0; c < count; ++c) {
        const Index column = first + c;
        const auto block = random_block(key, std::uint64_t{17} << 32 | static_cast<std::uint64_t>(column / 4),
                                        std::uint64_t{5} << 32 | 3u);
        const bool kept = block[static_cast<std::size_t>(column % 4)] >= rate * 0x1p32;
        REQUIRE(factors[static_cast<std::size_t>(c)] == (kept ? 1.6 : 0.0));
        REQUIRE(counter.keeps(5, 3, 17, column) == kept);
      }
    }
  }
}

#include <doctest/doctest.h>

#include <algorithm>

#include "core/error.h"
#include "data/splits.h"

namespace tapeline {
namespace {

constexpr Index kjv = 4'140'000;

std::vector<Index> numbers(const std::vector<TokenRange>& ranges, Index block) {
  std::vector<Index> blocks;
  for (const TokenRange& range : ranges) blocks.push_back(range.begin / block);
  return blocks;
}

/// Every token is in exactly one range, and each list is in order.
void check_complete(const Splits& splits, Index tokens) {
  std::vector<TokenRange> all;
  for (const auto* list : {&splits.train, &splits.validation, &splits.test}) {
    CHECK(std::is_sorted(list->begin(), list->end(),
                         [](const TokenRange& a, const TokenRange& b) { return a.begin < b.begin; }));
    all.insert(all.end(), list->begin(), list->end());
  }
  std::sort(all.begin(), all.end(),
            [](const TokenRange& a, const TokenRange& b) { return a.begin < b.begin; });
  Index next = 0;
  for (const TokenRange& range : all) {
    CHECK(range.begin == next);
    next += range.count;
  }
  CHECK(next == tokens);
}

TEST_CASE(
    "splits: the King James Bible gives 63 blocks of 64 KiB and a rest, block 4 and 9 of ten held back") {
  const Splits splits = split_blocks(kjv, 0, 64, 1024, 0.1, 0.1);
  CHECK(splits.block == 65'536);
  CHECK(numbers(splits.validation, splits.block) == std::vector<Index>{4, 14, 24, 34, 44, 54});
  CHECK(numbers(splits.test, splits.block) == std::vector<Index>{9, 19, 29, 39, 49, 59});
  CHECK(splits.train.size() == 64 - 12);
  CHECK(splits.train.back().count == kjv % 65'536);
  check_complete(splits, kjv);
}

TEST_CASE("splits: the automatic block") {
  CHECK(split_blocks(40 * 65'536, 0, 64, 1024, 0.1, 0.1).block == 65'536);
  CHECK(split_blocks(40 * 65'536 - 1, 0, 64, 1024, 0.1, 0.1).block == 32'768);
  CHECK(split_blocks(1'000'000, 0, 64, 1024, 0.1, 0.1).block == 16'384);
  CHECK(split_blocks(1'000'000'000, 0, 64, 1024, 0.1, 0.1).block == 65'536);
  // At least four of the longest windows.
  CHECK(split_blocks(100'000, 0, 64, 1024, 0.1, 0.1).block == 4096);
  CHECK(split_blocks(kjv, 0, 64, 20'000, 0.1, 0.1).block == 80'000);
}

TEST_CASE("splits: other shares are interleaved too") {
  for (const auto& [validation, test] : std::vector<std::pair<double, double>>{
           {0.2, 0.1}, {0.1, 0.5}, {0.25, 0.25}, {0.3, 0.3}, {0.05, 0}, {0.01, 0.02}, {0.4, 0.4}}) {
    CAPTURE(validation);
    CAPTURE(test);
    const Index tokens = 1000 * 4096 + 17;
    const Splits splits = split_blocks(tokens, 4096, 64, 1024, validation, test);
    CHECK(std::abs(static_cast<double>(splits.validation.size()) - 1000 * validation) <= 1);
    CHECK(std::abs(static_cast<double>(splits.test.size()) - 1000 * test) <= 1);
    check_complete(splits, tokens);
    // Spread out: no part of the text goes much longer than the share's period without.
    const std::vector<Index> held_back = numbers(splits.validation, 4096);
    for (std::size_t i = 1; i < held_back.size(); ++i)
      CHECK(static_cast<double>(held_back[i] - held_back[i - 1]) <= 1 / validation + 2);
  }
  CHECK_THROWS_AS(split_blocks(kjv, 0, 64, 1024, 0.5, 0.5), ConfigError);
  CHECK_THROWS_AS(split_blocks(kjv, 0, 64, 1024, -0.1, 0.5), ConfigError);
}

TEST_CASE("splits: a text too small is refused with the size found and the size needed") {
  CHECK_THROWS_WITH_AS(
      split_blocks(10, 0, 16, 16, 0, 0.1),
      "the text is too small: it has 10 tokens, and one training window of 16 needs 17 (its inputs "
      "and one target more); give more text or a smaller train.length",
      DataError);
  CHECK_THROWS_AS(split_blocks(16, 0, 16, 16, 0, 0.1), DataError);
  CHECK_THROWS_AS(split_blocks(17, 0, 16, 256, 0.1, 0.1), DataError);
  CHECK_THROWS_WITH_AS(
      split_blocks(20'479, 0, 64, 1024, 0.1, 0.1),
      "the text is too small: it has 20479 tokens, and at least 20480 are needed (with the tokenizer "
      "\"bytes\" as many bytes) to hold back a validation block for evaluation at length 1024; give "
      "more text, evaluate at shorter lengths, or set data.validation_share = 0",
      DataError);
  const Splits smallest = split_blocks(20'480, 0, 64, 1024, 0.1, 0.1);
  CHECK(smallest.validation.size() == 1);
  CHECK(smallest.validation.front().count == 4096);
}

TEST_CASE("splits: a validation share of 0 trains without, down to one window") {
  for (const double test : {0.0, 0.1}) {
    const Splits splits = split_blocks(17, 0, 16, 256, 0, test);
    CHECK(splits.validation.empty());
    CHECK(splits.test.empty());
    REQUIRE(splits.train.size() == 1);
    CHECK(splits.train.front().begin == 0);
    CHECK(splits.train.front().count == 17);
  }
  const Splits larger = split_blocks(kjv, 0, 64, 1024, 0, 0.1);
  CHECK(larger.validation.empty());
  CHECK(larger.test.size() == 6);
}

TEST_CASE("splits: a block given by hand") {
  const Splits splits = split_blocks(50'000, 5000, 64, 1024, 0.1, 0.1);
  CHECK(splits.block == 5000);
  CHECK(numbers(splits.validation, 5000) == std::vector<Index>{4});
  CHECK(numbers(splits.test, 5000) == std::vector<Index>{9});
  CHECK_THROWS_WITH_AS(
      split_blocks(50'000, 4000, 64, 1024, 0.1, 0.1),
      "data.block is 4000; evaluation at 1024 tokens needs blocks of at least 4096: set data.block to "
      "that or to \"auto\", or evaluate at 1000 tokens at most",
      ConfigError);
  CHECK_THROWS_AS(split_blocks(50'000, 64, 64, 64, 0, 0), ConfigError);
  CHECK_THROWS_AS(split_blocks(50'000, -1, 64, 64, 0, 0), ConfigError);
  CHECK_THROWS_AS(split_blocks(20'000, 5000, 64, 1024, 0.1, 0.1), DataError);
}

}  // namespace
}  // namespace tapeline

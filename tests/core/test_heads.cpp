#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "tests/support/gradcheck.h"
#include "tests/support/reference.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Head `h` of `heads`, cut from column `first` on: what split_heads means, element by element.
std::vector<double> cut_by_hand(const Storage& x, Index first, Index heads, Index width) {
  const Index batch = x.shape()[0], time = x.shape()[1];
  std::vector<double> out;
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      for (Index t = 0; t < time; ++t) {
        for (Index d = 0; d < width; ++d) {
          out.push_back(static_cast<double>(x.data()[(b * time + t) * x.shape()[2] + first + h * width + d]));
        }
      }
    }
  }
  return out;
}

/// One number that depends on all three parts.
Var mixed(const HeadsSplit& parts) {
  return add(sum(multiply(parts.query, parts.query)),
             add(sum(multiply(parts.key, parts.key)),
                 sum(multiply(parts.value, multiply(parts.value, parts.value)))));
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("split_heads: every number goes to its head, with as many or fewer key/value heads") {
  for (const Index kv : {1, 2, 4}) {
    const Storage x = random_storage({2, 5, (4 + 2 * kv) * 3}, "x");
    TestTape tape;
    const HeadsSplit parts = split_heads(tape->constant(x.tensor()), 4, kv);
    CHECK(parts.query.shape() == Shape{2, 4, 5, 3});
    CHECK(parts.key.shape() == Shape{2, kv, 5, 3});
    CHECK(parts.value.shape() == Shape{2, kv, 5, 3});
    CHECK(numbers_of(parts.query.value()) == cut_by_hand(x, 0, 4, 3));
    CHECK(numbers_of(parts.key.value()) == cut_by_hand(x, 12, kv, 3));
    CHECK(numbers_of(parts.value.value()) == cut_by_hand(x, 12 + 3 * kv, kv, 3));
  }
}

TEST_CASE("split_heads: gradient, alone and beside another use of x") {
  std::array<Storage, 1> in{random_storage({2, 3, 8 * 4}, "x")};
  gradcheck("split_heads", in, [](Tape&, std::span<const Var> v) { return mixed(split_heads(v[0], 4, 2)); });
  gradcheck("split_heads, unequal uses", in, [](Tape&, std::span<const Var> v) {
    const HeadsSplit parts = split_heads(v[0], 4, 2);
    return add(multiply(parts.query, parts.query), sum(multiply(parts.key, parts.value)));
  });
  gradcheck("split_heads beside another use", in, [](Tape&, std::span<const Var> v) {
    const Var h = scale(v[0], 2);
    const Var before = multiply(h, h);
    const Var parts = mixed(split_heads(h, 4, 2));
    return add(add(before, parts), multiply(h, v[0]));
  });
}

TEST_CASE("split_heads: a part that nothing uses has gradient zero, in whatever order the others come") {
  std::array<Storage, 1> in{random_storage({2, 3, 4 * 2}, "x")};
  gradcheck("query alone", in,
            [](Tape&, std::span<const Var> v) { return split_heads(scale(v[0], 1), 2, 1).query; });
  gradcheck("key alone", in,
            [](Tape&, std::span<const Var> v) { return split_heads(scale(v[0], 1), 2, 1).key; });
  gradcheck("value alone", in,
            [](Tape&, std::span<const Var> v) { return split_heads(scale(v[0], 1), 2, 1).value; });
  gradcheck("key and value", in, [](Tape&, std::span<const Var> v) {
    const HeadsSplit parts = split_heads(scale(v[0], 1), 2, 1);
    return multiply(parts.key, parts.value);
  });
}

TEST_CASE("merge_heads: undoes the split, with gradient") {
  const Storage x = random_storage({2, 5, 6 * 3}, "x");
  TestTape tape;
  const Var merged = merge_heads(split_heads(tape->constant(x.tensor()), 4, 1).query);
  CHECK(merged.shape() == Shape{2, 5, 12});
  for (Index row = 0; row < 10; ++row) {
    for (Index c = 0; c < 12; ++c) CHECK(merged.value().data[12 * row + c] == x.data()[18 * row + c]);
  }
  std::array<Storage, 1> in{random_storage({2, 3, 4, 2}, "heads")};
  gradcheck("merge_heads", in, [](Tape&, std::span<const Var> v) { return merge_heads(v[0]); });
  gradcheck("merge_heads twice", in,
            [](Tape&, std::span<const Var> v) { return multiply(merge_heads(v[0]), merge_heads(v[0])); });
}

TEST_CASE("split_heads: no rows and no sequences are legal") {
  for (const Shape& shape : {Shape{0, 3, 8}, Shape{2, 0, 8}, Shape{2, 3, 0}}) {
    std::array<Storage, 1> in{Storage(shape)};
    gradcheck("split_heads of nothing", in, [](Tape&, std::span<const Var> v) {
      const HeadsSplit parts = split_heads(v[0], 2, 1);
      return add(merge_heads(parts.query), sum(add(parts.key, parts.value)));
    });
  }
}

TEST_CASE("split_heads: the same bits for one thread and several") {
  const Storage x = random_storage({4, 70, 8 * 16}, "x");
  const auto run = [&](int threads) {
    const ThreadSetting setting(threads);
    TestTape tape;
    const Var v = tape->variable(x.tensor());
    const HeadsSplit parts = split_heads(v, 4, 2);
    tape->backward(sum(multiply(merge_heads(parts.query), merge_heads(parts.query))));
    return numbers_of(v.grad());
  };
  CHECK(run(1) == run(3));
}

TEST_CASE("heads: shapes that do not fit are refused") {
  const Storage x = random_storage({2, 3, 16}, "x");
  TestTape tape;
  const Var v = tape->constant(x.tensor());
  CHECK_THROWS_WITH_AS(split_heads(v, 4, 3),
                       "split_heads: 4 heads and 3 key/value heads; the second must divide the first",
                       ShapeError);
  CHECK_THROWS_WITH_AS(split_heads(v, 3, 1),
                       "split_heads: the joint rows are [2, 3, 16] for 3 heads and 1 key/value heads; the "
                       "width must be a multiple of 5",
                       ShapeError);
  CHECK_THROWS_AS(split_heads(v, 0, 1), ShapeError);
  CHECK_THROWS_AS(split_heads(reshape(v, {6, 16}), 2, 1), ShapeError);
  CHECK_THROWS_AS(merge_heads(v), ShapeError);
}

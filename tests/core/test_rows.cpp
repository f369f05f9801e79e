#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/kernels/rows.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/reference.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {

TEST_CASE("rows: sums of columns by plain loops, for every instruction set, on one thread and several") {
  for_every_instruction_set([](std::int64_t) {
    for (const int threads : {1, 3}) {
      const ThreadSetting setting(threads);
      for (const Index width : {1, 3, 4, 7, 8, 9, 16, 17, 33}) {
        for (const Index rows : {0, 1, 5, 3001}) {
          CAPTURE(width);
          CAPTURE(rows);
          const Storage x = random_storage({rows, width}, "x");
          std::vector<double> right(static_cast<std::size_t>(width));
          for (Index i = 0; i < rows * width; ++i) {
            right[static_cast<std::size_t>(i % width)] += static_cast<double>(x.data()[i]);
          }
          const Storage scratch(Shape{column_sums_scratch(width)});
          Storage sums(Shape{width});
          for (Index j = 0; j < width; ++j) sums.data()[j] = std::numeric_limits<Real>::quiet_NaN();
          column_sums(x.data(), rows, width, 0, sums.data(), scratch.data());
          CHECK(largest_difference(numbers_of(sums.tensor()), right) <= rounding() * 10);
          column_sums(x.data(), rows, width, 1, sums.data(), scratch.data());
          for (double& sum : right) sum *= 2;
          CHECK(largest_difference(numbers_of(sums.tensor()), right) <= rounding() * 10);
        }
      }
    }
  });
}

TEST_CASE("rows: a product in place and the sums of its columns, for every instruction set") {
  for_every_instruction_set([](std::int64_t) {
    for (const int threads : {1, 3}) {
      const ThreadSetting setting(threads);
      for (const Index width : {1, 7, 16, 33}) {
        for (const Index rows : {0, 1, 3001}) {
          const Storage given = random_storage({rows, width}, "x"),
                        factors = random_storage({rows, width}, "factors");
          std::vector<double> products, sums(static_cast<std::size_t>(width));
          for (Index i = 0; i < rows * width; ++i) {
            products.push_back(static_cast<double>(given.data()[i]) * static_cast<double>(factors.data()[i]));
            sums[static_cast<std::size_t>(i % width)] += products.back();
          }
          const Storage scratch(Shape{column_sums_scratch(width)});
          Storage found(Shape{width});
          for (const bool wanted : {true, false}) {
            Storage x(Shape{rows, width});
            std::copy_n(given.data(), rows * width, x.data());
            multiply_and_sum_columns(factors.data(), rows, width, x.data(), 0,
                                     wanted ? found.data() : nullptr, scratch.data());
            CHECK(largest_difference(numbers_of(x.tensor()), products) <= rounding());
          }
          CHECK(largest_difference(numbers_of(found.tensor()), sums) <= rounding() * 10);
        }
      }
    }
  });
}

TEST_CASE("rows: scaled sums for every instruction set, whatever is left over of a vector") {
  for_every_instruction_set([](std::int64_t) {
    for (const Index count : {0, 1, 3, 4, 7, 8, 9, 16, 17, 33}) {
      const Storage x = random_storage({count}, "x"), old = random_storage({count}, "old");
      std::vector<double> fresh, added;
      for (Index i = 0; i < count; ++i) {
        fresh.push_back(0.75 * static_cast<double>(x.data()[i]));
        added.push_back(fresh.back() + 0.5 * static_cast<double>(old.data()[i]));
      }
      scaled_add(x.data(), count, Real(0.75), Real(0.5), old.data());
      CHECK(largest_difference(numbers_of(old.tensor()), added) <= rounding());
      for (Index i = 0; i < count; ++i) old.data()[i] = std::numeric_limits<Real>::quiet_NaN();
      scaled_add(x.data(), count, Real(0.75), 0, old.data());
      CHECK(largest_difference(numbers_of(old.tensor()), fresh) <= rounding());
    }
  });
}

TEST_CASE("rows: one row filled into many") {
  const Storage row = random_storage({5}, "row"), out(Shape{7, 5});
  fill_rows(row.data(), 7, 5, out.data());
  for (Index i = 0; i < 35; ++i) CHECK(out.data()[i] == row.data()[i % 5]);
}

}  // namespace tapeline::inline TAPELINE_PRECISION

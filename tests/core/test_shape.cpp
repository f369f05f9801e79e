#include <doctest/doctest.h>

#include "core/error.h"
#include "core/shape.h"

using namespace tapeline;

TEST_CASE("shape: sizes, rows, axes from either end, text") {
  const Shape shape{2, 3, 4};
  CHECK(shape.rank() == 3);
  CHECK(shape.size() == 24);
  CHECK(shape.rows() == 6);
  CHECK(shape.last() == 4);
  CHECK(shape[0] == 2);
  CHECK(shape[-1] == 4);
  CHECK(shape[-3] == 2);
  CHECK(shape.with_last(7) == Shape{2, 3, 7});
  CHECK(shape.text() == "[2, 3, 4]");
  CHECK(shape != Shape{2, 3});
}

TEST_CASE("shape: a scalar has one element and no axis; extents of zero are legal") {
  const Shape scalar;
  CHECK(scalar.size() == 1);
  CHECK(scalar.rows() == 1);
  CHECK(scalar.last() == 1);
  CHECK(scalar.text() == "[]");
  CHECK_THROWS_AS(scalar[0], ShapeError);
  CHECK_THROWS_AS(scalar.with_last(2), ShapeError);
  CHECK(Shape{4, 0}.size() == 0);
  CHECK(Shape{4, 0}.rows() == 4);
}

TEST_CASE("shape: what does not exist is refused with the shape in the text") {
  CHECK_THROWS_WITH_AS((Shape{2, 3}[2]), "axis 2 of shape [2, 3] does not exist; it has 2 axes", ShapeError);
  CHECK_THROWS_AS((Shape{2, 3}[-3]), ShapeError);
  CHECK_THROWS_WITH_AS((Shape{2, -1}), "shape [2, -1] has a negative extent", ShapeError);
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1}), ShapeError);
}

TEST_CASE("shape: more elements than can be counted are refused, with a zero among them too") {
  constexpr Index huge = Index{1} << 58;
  CHECK(Shape{2, huge}.size() == 2 * huge);
  CHECK_THROWS_WITH_AS((Shape{huge, 64}),
                       "shape [288230376151711744, 64] has more elements than can be counted", ShapeError);
  CHECK_THROWS_AS((Shape{3, huge}), ShapeError);
  CHECK_THROWS_AS((Shape{huge, 0, huge}), ShapeError);
}

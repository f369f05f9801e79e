#include "data/slab.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/random.h"

namespace tapeline {
namespace {

/// The places of a slab in row order, as offsets into a dataset of these extents.
std::vector<Index> places(const Slab& slab, const std::vector<Index>& extents) {
  std::vector<Index> found = {0};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    std::vector<Index> longer;
    for (const Index place : found) {
      for (Index i = 0; i < slab.axes[axis].count; ++i)
        longer.push_back(place * extents[axis] + slab.axes[axis].begin + i * slab.axes[axis].step);
    }
    found = longer;
  }
  return found;
}

TEST_CASE("slab: the pieces of 300 random parts are, one after another, the part") {
  const RandomKey key = random_key(0, "slabs");
  std::uint64_t drawn = 0;
  const auto draw = [&](Index below) {
    return static_cast<Index>(random_below(key, drawn++, static_cast<std::uint64_t>(below)));
  };
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Index> extents;
    Slab slab;
    const Index rank = draw(5);
    for (Index axis = 0; axis < rank; ++axis) {
      extents.push_back(1 + draw(9));
      const Index begin = draw(extents.back()), step = 1 + draw(3);
      slab.axes.push_back({begin, draw((extents.back() - 1 - begin) / step + 2), step});
    }
    REQUIRE(slab.fits(extents));
    const Index largest = 1 + draw(40);
    std::vector<Index> together;
    for_each_piece(slab, largest, [&](const Slab& piece) {
      CHECK(piece.fits(extents));
      CHECK(piece.size() <= largest);
      CHECK(piece.size() > 0);
      const std::vector<Index> more = places(piece, extents);
      together.insert(together.end(), more.begin(), more.end());
    });
    CAPTURE(slab.text());
    CAPTURE(largest);
    CHECK(together == places(slab, extents));
  }
}

TEST_CASE("slab: a scalar is one piece, nothing is none, and pieces are not needlessly small") {
  int pieces = 0;
  const auto count = [&](const Slab&) { ++pieces; };
  for_each_piece(Slab{}, 1, count);
  CHECK(pieces == 1);
  for_each_piece(Slab::whole({3, 0}), 10, count);
  CHECK(pieces == 1);
  for_each_piece(Slab::whole({1000, 3}), 300, count);
  CHECK(pieces == 11);
  for_each_piece(Slab::whole({2, 1000}), 250, count);
  CHECK(pieces == 19);
}

TEST_CASE("slab: what lies outside does not fit, however large the numbers") {
  const Index huge = std::numeric_limits<Index>::max();
  CHECK(Slab::whole({3, 4}).fits({3, 4}));
  CHECK_FALSE(Slab::whole({3, 4}).fits({12}));
  CHECK_FALSE(Slab{{{0, 5, 1}}}.fits({4}));
  CHECK_FALSE(Slab{{{-1, 2, 1}}}.fits({4}));
  CHECK_FALSE(Slab{{{0, 2, 0}}}.fits({4}));
  CHECK_FALSE(Slab{{{0, 2, 4}}}.fits({4}));
  CHECK(Slab{{{0, 2, 3}}}.fits({4}));
  CHECK_FALSE(Slab{{{3, huge, huge}}}.fits({4}));
  CHECK(Slab{{{0, 4, 1}, {1, 2, 3}}}.text() == "[0:4, 1:5:3]");
}

}  // namespace
}  // namespace tapeline

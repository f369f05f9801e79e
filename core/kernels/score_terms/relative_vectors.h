// u . k + (q + v) . r(d) + k . p(d), times the row's factor: first the view, for everyone; then the kernel
// part, which core/kernels/attention.cpp includes once for every instruction set.
#ifndef TAPELINE_SCORE_TERM_RELATIVE_VECTORS_VIEW
#define TAPELINE_SCORE_TERM_RELATIVE_VECTORS_VIEW

#include <algorithm>

#include "core/kernels/score_terms/distance_bias.h"
#include "core/real.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// One vector for every distance of a head, read from a table by way of an index. Tiles read copies in which
/// the vectors stand by distance, one distance a place: below `lowest` and above `highest` the table's row
/// does not change any more, and the copies go on only as far as a tile can reach.
struct DistanceVectorsView {
  const Real* table = nullptr;  // row r of head h: table + h head_stride + r row_stride; null: absent
  Index head_stride = 0;        // 0: one table for all heads
  Index row_stride = 0;
  const Index* index = nullptr;  // row of distance first_distance + n; null: n
  Index first_distance = 0;
  Index lowest = 0, highest = 0;
  bool descending = false;        // places run from `top` down, else from `bottom` up
  Index bottom = 0, top = 0;      // the distances that have a place
  Index heads = 0;                // of the copies: 1 or H
  Index stride = 0;               // places, with room for the rest of a vector
  const Real* columns = nullptr;  // [heads, D, stride]; null: pair by pair from the table
  const Real* rows = nullptr;     // [heads, stride, padded D]; only for the gradient
  Real* d_rows = nullptr;         // [workers, heads, stride, padded D], added to; null: not wanted

  bool present() const { return table != nullptr; }
  Index place(Index distance) const { return descending ? top - distance : distance - bottom; }
  Index distance(Index place) const { return descending ? top - place : bottom + place; }
  /// Number of the table's row for a distance.
  Index row_number(Index distance) const {
    const Index n = std::clamp(distance, lowest, highest) - first_distance;
    return index == nullptr ? n : index[n];
  }
  const Real* row(Index head, Index distance) const {
    return table + head * head_stride + row_number(distance) * row_stride;
  }
  /// The part of a copy that belongs to a head: `numbers` a head.
  Index of_head(Index head, Index numbers) const { return heads == 1 ? 0 : head * numbers; }
};

struct RelativeVectorsView {
  DistanceVectorsView query, key;                // r, p
  const Real *u = nullptr, *v = nullptr;         // [H, D]; null: 0
  double *d_u = nullptr, *d_v = nullptr;         // [workers, H, D], added to; null: not wanted
  Index heads = 0, width = 0, padded_width = 0;  // padded: whole vectors of any instruction set
  Index first_distance = 0, last_distance = 0;   // of the tables
  DistanceFault* faults = nullptr;               // [workers]; null: known to be none

  /// Rows of queries, or keys, whose distances are taken together, and the distances they meet in a tile.
  static constexpr Index band = 16;
  static constexpr Index strip = 64 + band;

  /// Numbers of scratch a worker needs.
  Index scratch(Index tile_rows, Index tile_keys) const {
    return tile_rows * tile_keys + 2 * tile_rows * padded_width + (band + tile_keys) * strip + 2 * tile_rows +
           2 * tile_keys + (2 + band) * padded_width;
  }
};

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif

#ifdef TAPELINE_ATTENTION_KERNEL
#if defined(TAPELINE_SCORE_TERM_RELATIVE_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_SCORE_TERM_RELATIVE_VECTORS
#undef TAPELINE_SCORE_TERM_RELATIVE_VECTORS
#else
#define TAPELINE_SCORE_TERM_RELATIVE_VECTORS
#endif

#include "core/kernels/score_terms/relative_key_part-inl.h"
#include "core/kernels/score_terms/relative_query_part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// The two parts, each with a table of its own; what both add to the scores of a tile stands in one place.
class RelativeVectorsTerm {
 public:
  static constexpr KeyOrder order = KeyOrder::left_to_right;
  static constexpr KeyOrder gradient_order = order;
  static constexpr bool adds_to_operands = true;
  static constexpr bool active = true;

  RelativeVectorsTerm(const RelativeVectorsView& view, const AttentionProblem& problem, Index worker,
                      Carver carver)
      : of_queries_(view.query.present()),
        of_keys_(view.key.present() || view.u != nullptr),
        here_(view, problem.positions, worker, carver),
        queries_(here_, carver),
        keys_(here_, carver) {}
  RelativeVectorsTerm(const RelativeVectorsTerm&) = delete;
  RelativeVectorsTerm& operator=(const RelativeVectorsTerm&) = delete;

  void prepare(const ScoreTile& tile) {
    if (tile.begins) {
      here_.start(tile);
      if (of_queries_) queries_.start(tile);
    }
    here_.locate(tile);
    if (of_queries_) {
      queries_.prepare(tile);
    } else {
      std::fill_n(here_.added, tile.keys * attention_tile_rows, Real{0});
    }
    if (of_keys_) keys_.prepare(tile);
  }

  template <class V>
  HWY_INLINE V add(Index key, Index row, V score) const {
    return hn::Add(score, hn::Load(Lanes(), here_.added + key * attention_tile_rows + row));
  }

  void gradient(const ScoreTile& tile, const Real* d_scores, const TileGradients& gradients) {
    if (of_queries_) queries_.gradient(tile, d_scores);
    if (of_keys_) keys_.gradient(tile, d_scores, gradients);
  }
  void finish_gradient(const TileGradients& gradients) {
    if (of_queries_) queries_.finish_gradient(gradients);
  }

 private:
  bool of_queries_, of_keys_;
  RelativeTile here_;
  RelativeQueryPart queries_;
  RelativeKeyPart keys_;
};

inline RelativeVectorsTerm make_term(const RelativeVectorsView& view, const AttentionProblem& problem,
                                     Index worker, Real* scratch) {
  return {view, problem, worker, Carver(scratch)};
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif
#endif

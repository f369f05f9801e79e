#include "core/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/dropout_counter.h"
#include "core/kernels/attention_tile.h"
#include "core/kernels/instruction_sets.h"
#include "core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/attention.cpp"
// The order of the next two matters.
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#define TAPELINE_ATTENTION_KERNEL
#include "core/kernels/attention_backward-inl.h"
#include "core/kernels/attention_forward-inl.h"
#include "core/kernels/score_terms/contextual_positions.h"
#include "core/kernels/score_terms/distance_bias.h"
#include "core/kernels/score_terms/linear_bias.h"
#include "core/kernels/score_terms/none.h"
#include "core/kernels/score_terms/relative_vectors.h"
#include "core/kernels/score_terms/row_normalized_bias.h"
#undef TAPELINE_ATTENTION_KERNEL

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// Query tiles [begin, end) of all heads, a tile's number being (b H + h) tiles + its rank in balanced order.
void forward_share(const AttentionProblem& problem, const AttentionResult& result, Real* workspace,
                   Index worker, Index begin, Index end) {
  std::visit(
      [&](const auto& view) {
        Carver carver(workspace);
        TileScores scores(problem, carver);
        ForwardTile forward(problem, scores, carver);
        auto term = make_term(view, problem, worker, carver.take(0));
        using Term = decltype(term);
        const Index tiles = problem.tiles();
        for (Index item = begin; item < end; ++item) {
          const Index row = item / tiles, head = row % problem.heads;
          scores.start(row / problem.heads, head, balanced_order(item % tiles, tiles));
          forward.run<Term>(term, result);
          if (result.probe == nullptr) continue;
          forward.probe<Term>(term, result.probe_sinks,
                              result.probe + (worker * problem.heads + head) * attention_probe_sums);
        }
      },
      problem.term);
}

/// Query tiles [begin, end) of the heads that share key head `key_head` of sequence `batch`.
void backward_share(const AttentionProblem& problem, const AttentionGradients& gradients, Real* workspace,
                    Index worker, Index batch, Index key_head, Index begin, Index end,
                    const KeyGradients& sums) {
  std::visit(
      [&](const auto& view) {
        Carver carver(workspace);
        TileScores scores(problem, carver);
        BackwardTile backward(problem, scores, carver);
        auto term = make_term(view, problem, worker, carver.take(0));
        using Term = decltype(term);
        const Index tiles = problem.tiles(), group = problem.heads / problem.key_heads;
        for (Index item = begin; item < end; ++item) {
          scores.start(batch, key_head * group + item / tiles, balanced_order(item % tiles, tiles));
          backward.run<Term>(term, gradients, sums);
        }
      },
      problem.term);
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tapeline::inline TAPELINE_PRECISION {

HWY_EXPORT(forward_share);
HWY_EXPORT(backward_share);

namespace {

Index padded(Index width) { return Carver::rounded(width); }

/// What the scores of a tile, the transposed queries and a term need.
Index scores_workspace(const AttentionProblem& problem) {
  Index count = attention_tile_rows * (1 + problem.width + 3 * attention_tile_keys) +
                2 * attention_tile_keys * padded(problem.width);
  std::visit(
      [&](const auto& view) {
        if constexpr (requires { view.scratch(Index{}, Index{}); }) {
          count += view.scratch(attention_tile_rows, attention_tile_keys);
        }
      },
      problem.term);
  return count;
}

/// Heads whose gradient of keys one worker sums alone; the others are shared by all workers.
Index heads_alone(const AttentionProblem& problem) {
  const Index groups = problem.batch * problem.key_heads;
  return groups / thread_count() * thread_count();
}

/// A share of tiles worth a thread: about a hundred thousand multiplications.
Index forward_grain(const AttentionProblem& problem) {
  const Index rows = std::clamp<Index>(problem.query_rows, 1, attention_tile_rows);
  const Index keys = problem.mask.causal ? problem.key_rows - problem.query_rows / 2 : problem.key_rows;
  return 100'000 / (2 * rows * std::max<Index>(keys, 1) * std::max<Index>(problem.width, 1)) + 1;
}

}  // namespace

Index attention_forward_workspace(const AttentionProblem& problem) {
  return Carver::rounded(scores_workspace(problem) + attention_tile_rows * (3 + padded(problem.width)));
}

Index attention_backward_workspace(const AttentionProblem& problem) {
  return Carver::rounded(scores_workspace(problem) +
                         attention_tile_rows * (3 + problem.width + attention_tile_keys) +
                         (3 * attention_tile_rows + attention_tile_keys) * padded(problem.width));
}

Index attention_backward_partials(const AttentionProblem& problem) {
  if (heads_alone(problem) == problem.batch * problem.key_heads) return 0;
  return 2 * thread_count() * Carver::rounded(problem.key_rows * problem.width);
}

void attention_forward(const AttentionProblem& problem, const AttentionResult& result, Real* workspace) {
  const Index each = attention_forward_workspace(problem);
  parallel_shares(problem.batch * problem.heads * problem.tiles(), forward_grain(problem),
                  [&](int worker, Index begin, Index end) {
                    HWY_DYNAMIC_DISPATCH(forward_share)
                    (problem, result, workspace + worker * each, worker, begin, end);
                  });
}

namespace {

/// Key head number `place` of all sequences, in a gradient that stands like `rows`; null stays null.
Real* of_key_head(const AttentionProblem& problem, Real* gradient, const HeadRows& rows, Index place) {
  if (gradient == nullptr) return nullptr;
  return gradient + rows.at(place / problem.key_heads, place % problem.key_heads);
}

void clear_rows(Real* to, Index stride, Index rows, Index width) {
  for (Index r = 0; r < rows; ++r) std::fill_n(to + r * stride, width, Real{0});
}

/// Each worker takes whole key heads and sums their d_k, d_v in place.
void backward_alone(const AttentionProblem& problem, const AttentionGradients& gradients, Real* workspace,
                    Index key_heads) {
  const Index each = attention_backward_workspace(problem);
  const Index items = problem.heads / problem.key_heads * problem.tiles();
  parallel_shares(key_heads, 1, [&](int worker, Index begin, Index end) {
    for (Index place = begin; place < end; ++place) {
      const KeyGradients sums{of_key_head(problem, gradients.d_k, problem.key, place), problem.key.row,
                              of_key_head(problem, gradients.d_v, problem.value, place), problem.value.row};
      if (sums.k != nullptr && !gradients.add_k)
        clear_rows(sums.k, sums.k_stride, problem.key_rows, problem.width);
      if (sums.v != nullptr && !gradients.add_v)
        clear_rows(sums.v, sums.v_stride, problem.key_rows, problem.width);
      HWY_DYNAMIC_DISPATCH(backward_share)
      (problem, gradients, workspace + worker * each, worker, place / problem.key_heads,
       place % problem.key_heads, 0, items, sums);
    }
  });
}

/// All workers share the query tiles of one key head; each sums into a part of its own, and the parts are
/// added in the order of the workers.
void backward_shared(const AttentionProblem& problem, const AttentionGradients& gradients, Real* workspace,
                     Real* partials, Index place) {
  const Index each = attention_backward_workspace(problem);
  const Index numbers = problem.key_rows * problem.width, step = Carver::rounded(numbers);
  const Index items = problem.heads / problem.key_heads * problem.tiles();
  const int parts = parallel_shares(items, 1, [&](int worker, Index begin, Index end) {
    Real* const d_k = gradients.d_k == nullptr ? nullptr : partials + 2 * worker * step;
    Real* const d_v = gradients.d_v == nullptr ? nullptr : partials + (2 * worker + 1) * step;
    if (d_k != nullptr) std::fill_n(d_k, numbers, Real{0});
    if (d_v != nullptr) std::fill_n(d_v, numbers, Real{0});
    HWY_DYNAMIC_DISPATCH(backward_share)
    (problem, gradients, workspace + worker * each, worker, place / problem.key_heads,
     place % problem.key_heads, begin, end, KeyGradients{d_k, problem.width, d_v, problem.width});
  });
  const auto add_parts = [&](Real* gradient, const HeadRows& rows, bool add, Index which) {
    Real* const to = of_key_head(problem, gradient, rows, place);
    if (to == nullptr) return;
    parallel_for(problem.key_rows, 16384 / std::max<Index>(problem.width, 1) + 1,
                 [&](Index begin, Index end) {
                   for (Index row = begin; row < end; ++row) {
                     Real* const sum = to + row * rows.row;
                     if (!add) std::fill_n(sum, problem.width, Real{0});
                     for (int part = 0; part < parts; ++part) {
                       const Real* const from = partials + (2 * part + which) * step + row * problem.width;
                       for (Index c = 0; c < problem.width; ++c) sum[c] += from[c];
                     }
                   }
                 });
  };
  add_parts(gradients.d_k, problem.key, gradients.add_k, 0);
  add_parts(gradients.d_v, problem.value, gradients.add_v, 1);
}

}  // namespace

void attention_backward(const AttentionProblem& problem, const AttentionGradients& gradients, Real* workspace,
                        Real* partials) {
  const Index alone = heads_alone(problem);
  backward_alone(problem, gradients, workspace, alone);
  for (Index place = alone; place < problem.batch * problem.key_heads; ++place) {
    backward_shared(problem, gradients, workspace, partials, place);
  }
}

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif

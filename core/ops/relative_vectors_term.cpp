#include "core/ops/relative_vectors_term.h"

#include <algorithm>

#include "core/error.h"
#include "core/kernels/attention_tile.h"
#include "core/ops/operand_text.h"
#include "core/ops/seen_distances.h"
#include "core/parallel.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Those of the pairs that see each other; with explicit positions those of all pairs.
DistanceRange pass_distances(const AttentionProblem& problem) {
  const PassPositions& positions = problem.positions;
  if (has_explicit_positions(positions)) {
    const PositionRange query = range_of(positions.query), key = range_of(positions.key);
    return {query.lowest - key.highest, query.highest - key.lowest};
  }
  return seen_distances(problem);
}

/// How a table stands in memory: [H or 1, rows, D], or [rows, H D].
struct TableLayout {
  Index heads, rows, head_stride, row_stride;
};
TableLayout layout_of(const Shape& shape, Index heads, Index width) {
  if (shape.rank() == 2) return {heads, shape[0], width, heads * width};
  return {shape[0], shape[1], shape[0] == 1 ? 0 : shape[1] * width, width};
}

/// How many distances a table and its index cover.
Index check_table(const char* name, Var table, std::span<const Index> index,
                  const AttentionProblem& problem) {
  const Shape& shape = table.shape();
  const Index heads = problem.heads, width = problem.width;
  const bool apart = shape.rank() == 3 && (shape[0] == heads || shape[0] == 1) && shape[2] == width;
  const bool beside = shape.rank() == 2 && shape[1] == heads * width;
  require<ShapeError>(
      apart || beside,
      "attention: the relative {} vectors are {}, q has {} heads of width {}; expected [{} or "
      "1, rows, {}] or [rows, {}]",
      name, shape.text(), heads, width, heads, width, heads * width);
  const Index rows = layout_of(shape, heads, width).rows;
  for (const Index row : index) {
    require<ShapeError>(row >= 0 && row < rows,
                        "attention: the index of the relative {} vectors names row {}, the table is {}; "
                        "expected 0 to {}",
                        name, row, shape.text(), rows - 1);
  }
  return index.empty() ? rows : static_cast<Index>(index.size());
}

void check_bias(const char* name, Var bias, const AttentionProblem& problem) {
  require<ShapeError>(!bias || bias.shape() == Shape{problem.heads, problem.width},
                      "attention: the bias {} of the relative vectors is {}, q has {} heads of width {}; "
                      "expected [{}, {}]",
                      name, text(bias), problem.heads, problem.width, problem.heads, problem.width);
}

/// The distances that the tables hold; all there are where there is no table.
DistanceRange table_distances(const RelativeVectors& term, const AttentionProblem& problem) {
  const bool by_query = static_cast<bool>(term.query_vectors);
  const Var table = by_query ? term.query_vectors : term.key_vectors;
  if (!table) return pass_distances(problem);
  const std::span<const Index> index = by_query ? term.query_index : term.key_index;
  const Index span = index.empty() ? layout_of(table.shape(), problem.heads, problem.width).rows
                                   : static_cast<Index>(index.size());
  return {term.first_distance, term.first_distance + span - 1};
}

[[noreturn]] void fail_distance(Index distance, const DistanceRange& held) {
  fail<ShapeError>(
      "attention: distance {} is outside the relative vectors, which hold distances {} to {}; make the table "
      "or its index longer",
      distance, held.shortest, held.longest);
}

/// Which copies of a table the kernel reads.
struct Copies {
  bool columns = false, rows = false;
};

/// The part of the table that this pass can meet, and the distances at both ends from which on its row stays
/// the same.
DistanceVectorsView view_of(Var table, std::span<const Index> index, Index first_distance, bool descending,
                            const DistanceRange& met, const AttentionProblem& problem) {
  DistanceVectorsView view;
  if (!table) return view;
  const TableLayout layout = layout_of(table.shape(), problem.heads, problem.width);
  view.table = table.value().data;
  view.heads = layout.heads, view.head_stride = layout.head_stride, view.row_stride = layout.row_stride;
  view.index = index.empty() ? nullptr : index.data();
  view.first_distance = first_distance;
  view.descending = descending;
  Index lowest = met.shortest, highest = met.longest;
  if (!index.empty()) {
    const auto at = [&](Index distance) {
      return index[static_cast<std::size_t>(distance - first_distance)];
    };
    while (lowest < highest && at(lowest) == at(lowest + 1)) ++lowest;
    while (highest > lowest && at(highest) == at(highest - 1)) --highest;
  }
  view.lowest = lowest, view.highest = highest;
  // A band reaches past the distances that are met by its own height, on the side of keys twice that; a tile
  // that meets a distance between lowest and highest lies within its own size of it.
  constexpr Index beside_band = 2 * RelativeVectorsView::band;
  constexpr Index beside_tile = attention_tile_rows + attention_tile_keys;
  view.bottom = std::max(met.shortest - beside_band, lowest - beside_tile);
  view.top = std::min(met.longest + beside_band, highest + beside_tile);
  view.stride = Carver::rounded(view.top - view.bottom + 1 + RelativeVectorsView::band);
  return view;
}

void make_copies(DistanceVectorsView& view, const Copies& copies, Arena& arena, Index width) {
  if (!view.present() || !(copies.columns || copies.rows)) return;
  const Index padded = Carver::rounded(width), stride = view.stride;
  const auto room = [&](Index numbers) {
    return arena.allocate_array<Real>(static_cast<std::size_t>(view.heads * numbers));
  };
  Real* const columns = copies.columns ? room(width * stride) : nullptr;
  Real* const rows = copies.rows ? room(stride * padded) : nullptr;
  const Index grain = 16384 / (stride * width) + 1;
  parallel_for(view.heads, grain, [&](Index begin, Index end) {
    for (Index head = begin; head < end; ++head) {
      for (Index place = 0; place < stride; ++place) {
        const Real* const from = view.row(head, view.distance(place));
        if (columns != nullptr) {
          Real* const to = columns + head * width * stride + place;
          for (Index c = 0; c < width; ++c) to[c * stride] = from[c];
        }
        if (rows != nullptr) {
          Real* const to = rows + (head * stride + place) * padded;
          std::copy_n(from, width, to);
          std::fill(to + width, to + padded, Real{0});
        }
      }
    }
  });
  view.columns = columns;
  view.rows = rows;
}

RelativeVectorsView make_view(const RelativeVectors& term, Arena& arena, const AttentionProblem& problem,
                              const Copies& copies) {
  const DistanceRange held = table_distances(term, problem), asked = pass_distances(problem);
  DistanceRange met{std::clamp(asked.shortest, held.shortest, held.longest),
                    std::clamp(asked.longest, held.shortest, held.longest)};
  if (problem.query_rows == 0 || met.longest < met.shortest) met = {held.shortest, held.shortest};
  RelativeVectorsView view;
  view.query = view_of(term.query_vectors, term.query_index, term.first_distance, true, met, problem);
  view.key = view_of(term.key_vectors, term.key_index, term.first_distance, false, met, problem);
  make_copies(view.query, copies, arena, problem.width);
  make_copies(view.key, copies, arena, problem.width);
  if (term.u) view.u = term.u.value().data;
  if (term.v) view.v = term.v.value().data;
  view.heads = problem.heads, view.width = problem.width;
  view.padded_width = Carver::rounded(problem.width);
  view.first_distance = held.shortest, view.last_distance = held.longest;
  return view;
}

bool wanted(Var input) { return input && input.needs_grad(); }

/// The workers' sums by place and head, added up by row of the table.
void add_table_gradient(Var table, const DistanceVectorsView& view, Index heads, Index width) {
  if (!wanted(table)) return;
  const TableLayout layout = layout_of(table.shape(), heads, width);
  const Index padded = Carver::rounded(width), numbers = view.stride * padded;
  double* const sums = table.tape().arena().allocate_array<double>(
      static_cast<std::size_t>(layout.heads * layout.rows * width));
  const GradientTarget target = table.grad_target();
  const Index places = view.top - view.bottom + 1;
  parallel_for(layout.heads, 16384 / (places * width) + 1, [&](Index begin, Index end) {
    for (Index head = begin; head < end; ++head) {
      double* const of_head = sums + head * layout.rows * width;
      std::fill_n(of_head, layout.rows * width, 0.0);
      for (Index worker = 0; worker < thread_count(); ++worker) {
        const Real* const from = view.d_rows + (worker * view.heads + head) * numbers;
        for (Index place = 0; place < places; ++place) {
          double* const row = of_head + view.row_number(view.distance(place)) * width;
          for (Index c = 0; c < width; ++c) row[c] += static_cast<double>(from[place * padded + c]);
        }
      }
      for (Index row = 0; row < layout.rows; ++row) {
        Real* const to = target.tensor.data + head * layout.head_stride + row * layout.row_stride;
        for (Index c = 0; c < width; ++c) {
          to[c] = static_cast<Real>(of_head[row * width + c]) + (target.beta == 0 ? Real{0} : to[c]);
        }
      }
    }
  });
}

}  // namespace

void check_term(const RelativeVectors& term, const AttentionProblem& problem) {
  Index query_span = 0, key_span = 0;
  if (term.query_vectors) query_span = check_table("query", term.query_vectors, term.query_index, problem);
  if (term.key_vectors) key_span = check_table("key", term.key_vectors, term.key_index, problem);
  require<ShapeError>(
      !term.query_vectors || !term.key_vectors || query_span == key_span,
      "attention: the relative query vectors cover {} distances, the key vectors {}; they must "
      "cover the same",
      query_span, key_span);
  check_bias("u", term.u, problem);
  check_bias("v", term.v, problem);
  require<ShapeError>(!term.v || term.query_vectors,
                      "attention: the bias v of the relative vectors is {}, the query vectors are absent; v "
                      "is multiplied with them",
                      text(term.v));
  if (!term.query_vectors && !term.key_vectors) return;
  const DistanceRange held = table_distances(term, problem);
  require<ShapeError>(held.shortest <= held.longest,
                      "attention: the relative vectors have no rows; one a distance "
                      "is expected");
  if (const auto missing = missing_distance(problem, held)) fail_distance(*missing, held);
}

RelativeVectorsView forward_view(const RelativeVectors& term, Arena& arena, const AttentionProblem& problem) {
  // For a few rows the table itself is read: turning it would take longer than all the products.
  constexpr Index few_rows = 4;
  RelativeVectorsView view =
      make_view(term, arena, problem, {.columns = problem.query_rows >= few_rows, .rows = false});
  if (has_explicit_positions(problem.positions)) view.faults = per_worker<DistanceFault>(arena, 1);
  return view;
}

void check_faults(const RelativeVectorsView& view) {
  const DistanceRange held{view.first_distance, view.last_distance};
  if (const auto met = faulty_distance(view.faults)) fail_distance(*met, held);
}

RelativeVectorsView backward_view(const RelativeVectors& term, Arena& arena,
                                  const AttentionProblem& problem) {
  RelativeVectorsView view = make_view(term, arena, problem, {.columns = true, .rows = true});
  const auto sums_of = [&](Var table, DistanceVectorsView& of) {
    if (!wanted(table)) return;
    of.d_rows = per_worker<Real>(arena, of.heads * of.stride * view.padded_width);
  };
  sums_of(term.query_vectors, view.query);
  sums_of(term.key_vectors, view.key);
  if (wanted(term.u)) view.d_u = per_worker<double>(arena, view.heads * view.width);
  if (wanted(term.v)) view.d_v = per_worker<double>(arena, view.heads * view.width);
  return view;
}

void add_gradient(const RelativeVectors& term, const RelativeVectorsView& view) {
  add_table_gradient(term.query_vectors, view.query, view.heads, view.width);
  add_table_gradient(term.key_vectors, view.key, view.heads, view.width);
  add_worker_sums(term.u, view.d_u);
  add_worker_sums(term.v, view.d_v);
}

}  // namespace tapeline::inline TAPELINE_PRECISION

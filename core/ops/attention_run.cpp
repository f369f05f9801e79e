#include "core/ops/attention_run.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/parallel.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

Real* workspace_for(Arena& arena, Index each) {
  return arena.allocate_array<Real>(static_cast<std::size_t>(each * thread_count()));
}

/// Positions that say nothing mean row numbers, the last rows aligned.
PassPositions resolved(PassPositions positions, Index query_rows, Index key_rows) {
  const auto silent = [](const Positions& rows) {
    return rows.count == 0 && rows.begin == 0 && rows.axis[0].empty();
  };
  if (silent(positions.query) && silent(positions.key)) {
    positions.key = {0, key_rows, {}};
    positions.query = {key_rows - query_rows, query_rows, {}};
  }
  const auto check = [](const char* name, const Positions& rows, Index expected) {
    require<ShapeError>(rows.count == expected,
                        "attention: {} positions for {} {} rows; one a row is expected", rows.count, expected,
                        name);
    const auto explicit_count = static_cast<Index>(rows.axis[0].size());
    require<ShapeError>(explicit_count == 0 || explicit_count == expected,
                        "attention: {} explicit positions for {} {} rows; one a row is expected",
                        explicit_count, expected, name);
  };
  check("query", positions.query, query_rows);
  check("key", positions.key, key_rows);
  return positions;
}

void check_probe(const AttentionProbe& probe, Index heads) {
  const bool all_five = !probe.normalized_distance.empty();
  for (const auto& sums : {probe.entropy, probe.normalized_entropy, probe.sink_mass, probe.distance,
                           all_five ? probe.normalized_distance : probe.distance}) {
    require<ShapeError>(
        static_cast<Index>(sums.size()) == heads,
        "attention: the probe has room for {} heads, q has {}; give every sum one place a head", sums.size(),
        heads);
  }
}

/// The workers' sums, in their order, and the rows they stand for.
void add_to_probe(AttentionProbe& probe, const double* sums, const AttentionProblem& problem) {
  const std::array all{probe.entropy, probe.normalized_entropy, probe.sink_mass, probe.distance,
                       probe.normalized_distance};
  for (Index worker = 0; worker < thread_count(); ++worker) {
    for (Index head = 0; head < problem.heads; ++head) {
      for (std::size_t kind = 0; kind < all.size(); ++kind) {
        if (all[kind].empty()) continue;
        all[kind][static_cast<std::size_t>(head)] +=
            sums[(worker * problem.heads + head) * attention_probe_sums + static_cast<Index>(kind)];
      }
    }
  }
  Index choosing = 0;
  for (Index row = 0; row < problem.query_rows; ++row) choosing += problem.keys_seen(row) > 1 ? 1 : 0;
  probe.rows += problem.batch * problem.query_rows;
  probe.rows_with_choice += problem.batch * choosing;
}

/// d_query_scale of every row [B, H, Tq], summed over what shares a number.
void add_query_scale_gradient(Var query_scale, const Real* rows, const AttentionProblem& problem) {
  const GradientTarget target = query_scale.grad_target();
  const Index numbers = target.tensor.size();
  const Index all = problem.batch * problem.heads * problem.query_rows;
  for (Index n = 0; n < numbers; ++n) {
    double sum = 0;
    for (Index place = n; place < all; place += numbers) sum += static_cast<double>(rows[place]);
    Real& to = target.tensor.data[n];
    to = static_cast<Real>(sum) + (target.beta == 0 ? Real{0} : to);
  }
}

/// The numbers that the term keeps of each row.
Index kept_numbers(const ScoreTerm& score_term) {
  return std::visit(
      []<class Term>(const Term&) {
        return kept_by_row<decltype(forward_view(std::declval<const Term&>(), std::declval<Arena&>(),
                                                 std::declval<const AttentionProblem&>()))>();
      },
      score_term);
}

}  // namespace

void describe(AttentionProblem& problem, const ScoreTerms& terms, const Dropout& dropout) {
  require<ConfigError>(dropout.rate >= 0 && dropout.rate <= 1,
                       "attention: dropout rate {}; it must be between 0 and 1", dropout.rate);
  problem.dropout = dropout;
  problem.scale = terms.scale;
  problem.mask = terms.mask;
  require<ShapeError>(terms.mask.window >= 0 && terms.mask.sinks >= 0,
                      "attention: window {} and sinks {}; both must be 0 or more", terms.mask.window,
                      terms.mask.sinks);
  problem.positions = resolved(terms.positions, problem.query_rows, problem.key_rows);
  if (terms.query_scale) {
    const Shape& shape = terms.query_scale.shape();
    const bool by_head = shape == Shape{problem.heads, problem.query_rows};
    require<ShapeError>(by_head || shape == Shape{problem.query_rows},
                        "attention: query_scale is {}, q has {} heads of {} rows; expected [{}] or [{}, {}]",
                        shape.text(), problem.heads, problem.query_rows, problem.query_rows, problem.heads,
                        problem.query_rows);
    problem.query_scale = terms.query_scale.value().data;
    problem.query_scale_stride = by_head ? problem.query_rows : 0;
  }
  std::visit([&](const auto& term) { check_term(term, problem); }, terms.term);
}

OpWork attention_work(const Tape& tape, const AttentionProblem& problem, const WantedGradients& wanted) {
  if (tape.watch() == nullptr) return {};
  Index pairs = 0;
  for (Index row = 0; row < problem.query_rows; ++row) pairs += problem.keys_seen(row);
  const Index product = 2 * problem.batch * problem.heads * pairs * problem.width;
  const Index queries = problem.batch * problem.heads * problem.query_rows * problem.width;
  const Index keys = problem.batch * problem.key_heads * problem.key_rows * problem.width;
  const Index of_query = wanted.query ? 1 : 0, of_keys = (wanted.key ? 1 : 0) + (wanted.value ? 1 : 0);
  return {.flops = 2 * product,
          .numbers = 2 * queries + 2 * keys,
          .backward_flops = product * (2 + of_query + of_keys),
          .backward_numbers = (3 + of_query) * queries + (2 + of_keys) * keys};
}

AttentionResult run_attention(Tape& tape, AttentionProblem& problem, const ScoreTerm& score_term,
                              bool want_log_sum, AttentionProbe* probe) {
  Arena& arena = tape.arena();
  const Index rows = problem.batch * problem.heads * problem.query_rows;
  AttentionResult result;
  result.out = arena.allocate_array<Real>(static_cast<std::size_t>(rows * problem.width));
  if (want_log_sum) result.log_sum = arena.allocate_array<Real>(static_cast<std::size_t>(rows));
  if (const Index kept = kept_numbers(score_term); want_log_sum && kept > 0) {
    result.kept = arena.allocate_array<Real>(static_cast<std::size_t>(rows * kept));
  }
  const ArenaScope scratch(arena);
  if (probe != nullptr) {
    check_probe(*probe, problem.heads);
    result.probe = per_worker<double>(arena, problem.heads * attention_probe_sums);
    result.probe_sinks = probe->sink_keys;
  }
  std::visit([&](const auto& term) { problem.term = forward_view(term, arena, problem); }, score_term);
  std::visit([&](auto& view) { keep(view, result.kept); }, problem.term);
  attention_forward(problem, result, workspace_for(arena, attention_forward_workspace(problem)));
  std::visit([](const auto& view) { check_faults(view); }, problem.term);
  if (probe != nullptr) add_to_probe(*probe, result.probe, problem);
  return result;
}

void differentiate_attention(Arena& arena, AttentionProblem problem, const ScoreTerm& score_term,
                             Var query_scale, const AttentionResult& result, const Real* d_out,
                             AttentionGradients gradients) {
  std::visit([&](const auto& term) { problem.term = backward_view(term, arena, problem); }, score_term);
  std::visit([&](auto& view) { keep(view, result.kept); }, problem.term);
  gradients.out = result.out;
  gradients.log_sum = result.log_sum;
  gradients.d_out = d_out;
  const bool scale_wanted = query_scale && query_scale.needs_grad();
  if (scale_wanted) {
    gradients.d_query_scale = arena.allocate_array<Real>(
        static_cast<std::size_t>(problem.batch * problem.heads * problem.query_rows));
  }
  Real* const workspace = workspace_for(arena, attention_backward_workspace(problem));
  Real* const partials =
      arena.allocate_array<Real>(static_cast<std::size_t>(attention_backward_partials(problem)));
  attention_backward(problem, gradients, workspace, partials);
  if (scale_wanted) add_query_scale_gradient(query_scale, gradients.d_query_scale, problem);
  std::visit(
      [&](const auto& term) {
        std::visit(
            [&](const auto& view) {
              if constexpr (requires { add_gradient(term, view); }) add_gradient(term, view);
            },
            problem.term);
      },
      score_term);
}

}  // namespace tapeline::inline TAPELINE_PRECISION

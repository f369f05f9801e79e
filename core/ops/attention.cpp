#include "core/attention.h"

#include <array>
#include <variant>

#include "core/error.h"
#include "core/kernels/attention.h"
#include "core/ops/attention_terms.h"
#include "core/ops/work.h"
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

/// Fills in what the terms say, and checks it; the operands' shapes are already there.
void describe(AttentionProblem& problem, const ScoreTerms& terms, const ServedTerm& served) {
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
  std::visit([&](const auto& term) { check_term(term, problem); }, served);
}

void check_probe(const AttentionProbe& probe, Index heads) {
  for (const auto& sums : {probe.entropy, probe.normalized_entropy, probe.sink_mass, probe.distance}) {
    require<ShapeError>(
        static_cast<Index>(sums.size()) == heads,
        "attention: the probe has room for {} heads, q has {}; give every sum one place a head", sums.size(),
        heads);
  }
}

/// The workers' sums, in their order, and the rows they stand for.
void add_to_probe(AttentionProbe& probe, const double* sums, const AttentionProblem& problem) {
  const std::array all{probe.entropy, probe.normalized_entropy, probe.sink_mass, probe.distance};
  for (Index worker = 0; worker < thread_count(); ++worker) {
    for (Index head = 0; head < problem.heads; ++head) {
      for (std::size_t kind = 0; kind < all.size(); ++kind) {
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

/// Two products over the pairs that are seen, scores and output; backward the scores again, the gradient of
/// the weights, and one for each of q, k, v that wants one. Nothing where nobody watches: the pairs are
/// counted row by row.
OpWork work_of(const Tape& tape, const AttentionProblem& problem, Var q, Var k, Var v) {
  if (tape.watch() == nullptr) return {};
  Index pairs = 0;
  for (Index row = 0; row < problem.query_rows; ++row) pairs += problem.keys_seen(row);
  const Index product = 2 * problem.batch * problem.heads * pairs * problem.width;
  const Index keys_and_values = 2 * problem.batch * problem.key_heads * problem.key_rows * problem.width;
  const auto wanted = [](Var operand) { return gradient_numbers(operand) > 0 ? 1 : 0; };
  return {.flops = 2 * product,
          .numbers = 2 * numbers(q) + keys_and_values,
          .backward_flops = product * (2 + wanted(q) + wanted(k) + wanted(v)),
          .backward_numbers = 3 * numbers(q) + keys_and_values + gradient_numbers(q) + gradient_numbers(k) +
                              gradient_numbers(v)};
}

/// Output and log-sum-exp (null unless wanted), which live as long as the tape; scratch is given back.
AttentionResult forward(Tape& tape, AttentionProblem& problem, const ServedTerm& served, bool want_log_sum,
                        AttentionProbe* probe) {
  Arena& arena = tape.arena();
  const Index rows = problem.batch * problem.heads * problem.query_rows;
  AttentionResult result;
  result.out = arena.allocate_array<Real>(static_cast<std::size_t>(rows * problem.width));
  if (want_log_sum) result.log_sum = arena.allocate_array<Real>(static_cast<std::size_t>(rows));
  const ArenaScope scratch(arena);
  if (probe != nullptr) {
    check_probe(*probe, problem.heads);
    result.probe = per_worker<double>(arena, problem.heads * attention_probe_sums);
    result.probe_sinks = probe->sink_keys;
  }
  std::visit([&](const auto& term) { problem.term = forward_view(term, arena); }, served);
  attention_forward(problem, result, workspace_for(arena, attention_forward_workspace(problem)));
  std::visit([](const auto& view) { check_faults(view); }, problem.term);
  if (probe != nullptr) add_to_probe(*probe, result.probe, problem);
  return result;
}

/// A gradient to be written by the kernel; two operands may be one and the same Var, whose gradient then adds
/// up.
struct Wanted {
  Real* data = nullptr;
  bool add = false;
};
Wanted wanted(Var input) {
  if (!input.needs_grad()) return {};
  const GradientTarget target = input.grad_target();
  return {target.tensor.data, target.beta != 0};
}

void zero_when_shared(Wanted& first, const Wanted& other, Index count) {
  if (first.data == nullptr || first.data != other.data || first.add) return;
  std::fill_n(first.data, count, Real{0});
  first.add = true;
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

void backward(Var q, Var k, Var v, Var query_scale, const ServedTerm& served, AttentionProblem problem,
              const AttentionResult& result, const Real* d_out) {
  Arena& arena = q.tape().arena();
  std::visit([&](const auto& term) { problem.term = backward_view(term, arena, problem); }, served);
  AttentionGradients gradients;
  gradients.out = result.out;
  gradients.log_sum = result.log_sum;
  gradients.d_out = d_out;
  Wanted d_q = wanted(q), d_k = wanted(k), d_v = wanted(v);
  zero_when_shared(d_q, d_k, q.value().size());
  zero_when_shared(d_q, d_v, q.value().size());
  zero_when_shared(d_k, d_v, k.value().size());
  gradients.d_q = d_q.data, gradients.add_q = d_q.add;
  gradients.d_k = d_k.data, gradients.add_k = d_k.add;
  gradients.d_v = d_v.data, gradients.add_v = d_v.add;
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
        const Var input = term_input(term);
        if (!input || !input.needs_grad()) return;
        std::visit(
            [&](const auto& view) {
              if constexpr (requires { add_gradient(term, view); }) add_gradient(term, view);
            },
            problem.term);
      },
      served);
}

}  // namespace

Var attention(Var q, Var k, Var v, const ScoreTerms& terms, const Dropout& dropout, AttentionProbe* probe) {
  require<ShapeError>(q && k && v, "attention: q is {}, k is {}, v is {}; all three are needed", text(q),
                      text(k), text(v));
  const OpScope watched(q.tape(), "attention");
  const ServedTerm term = served_term(terms);
  const Shape &queries = q.shape(), &keys = k.shape(), &values = v.shape();
  require<ShapeError>(queries.rank() == 4 && keys.rank() == 4,
                      "attention: q is {}, k is {}; expected [batch, heads, rows, head width]",
                      queries.text(), keys.text());
  require<ShapeError>(keys == values, "attention: k is {}, v is {}; they must be equal in shape", keys.text(),
                      values.text());
  const auto check = [&](bool holds, const char* what) {
    require<ShapeError>(holds, "attention: q is {}, k is {}; {}", queries.text(), keys.text(), what);
  };
  check(queries[0] == keys[0], "batches must match");
  check(queries[3] == keys[3], "head widths must match");
  check(keys[1] > 0 && queries[1] % keys[1] == 0, "the key heads must divide the query heads");
  check(queries[2] <= keys[2], "there may not be more query rows than key rows");
  require<ConfigError>(dropout.rate >= 0 && dropout.rate <= 1,
                       "attention: dropout rate {}; it must be between 0 and 1", dropout.rate);

  AttentionProblem problem;
  problem.batch = queries[0], problem.heads = queries[1], problem.key_heads = keys[1];
  problem.query_rows = queries[2], problem.key_rows = keys[2], problem.width = queries[3];
  problem.q = q.value().data, problem.k = k.value().data, problem.v = v.value().data;
  problem.key_stride = problem.key_rows * problem.width;
  problem.dropout = dropout;
  describe(problem, terms, term);
  Tape& tape = q.tape();
  const AttentionResult result = forward(tape, problem, term, tape.recording(), probe);
  const Var learned = std::visit([](const auto& alternative) { return term_input(alternative); }, term);
  const Var query_scale = terms.query_scale;
  const OpWork work = work_of(tape, problem, q, k, v);
  return tape.record(
      "attention", {queries, result.out}, {q, k, v, query_scale, learned}, work,
      [=](Var output) { backward(q, k, v, query_scale, term, problem, result, output.grad().data); });
}

Var attention(Var q, const CachedKeyValues& cache, const ScoreTerms& terms, AttentionProbe* probe) {
  require<ShapeError>(static_cast<bool>(q), "attention: q is absent");
  const OpScope watched(q.tape(), "attention");
  const ServedTerm term = served_term(terms);
  const Shape& queries = q.shape();
  Tape& tape = q.tape();
  require<StateError>(
      !tape.recording(),
      "attention: a cache has no gradient; use a tape with Recording::off, or k and v as values");
  require<ShapeError>(queries.rank() == 4, "attention: q is {}; expected [batch, heads, rows, head width]",
                      queries.text());
  const auto check = [&](bool holds, const char* what) {
    require<ShapeError>(holds, "attention: q is {}, the cache holds [{}, {}, {}, {}]; {}", queries.text(),
                        cache.batch, cache.heads, cache.rows, cache.width, what);
  };
  check(queries[0] == cache.batch, "batches must match");
  check(queries[3] == cache.width, "head widths must match");
  check(cache.heads > 0 && queries[1] % cache.heads == 0, "the key heads must divide the query heads");
  check(queries[2] <= cache.rows, "there may not be more query rows than cached rows");

  AttentionProblem problem;
  problem.batch = queries[0], problem.heads = queries[1], problem.key_heads = cache.heads;
  problem.query_rows = queries[2], problem.key_rows = cache.rows, problem.width = queries[3];
  problem.q = q.value().data, problem.k = cache.keys, problem.v = cache.values;
  problem.key_stride = cache.head_stride;
  describe(problem, terms, term);
  const AttentionResult result = forward(tape, problem, term, false, probe);
  return tape.record("attention", {queries, result.out}, {q}, work_of(tape, problem, q, {}, {}), [](Var) {});
}

}  // namespace tapeline::inline TAPELINE_PRECISION

#include "core/attention.h"

#include <variant>

#include "core/error.h"
#include "core/ops/attention_run.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

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

AttentionGradients wanted_gradients(Var q, Var k, Var v) {
  Wanted d_q = wanted(q), d_k = wanted(k), d_v = wanted(v);
  zero_when_shared(d_q, d_k, q.value().size());
  zero_when_shared(d_q, d_v, q.value().size());
  zero_when_shared(d_k, d_v, k.value().size());
  AttentionGradients gradients;
  gradients.d_q = d_q.data, gradients.add_q = d_q.add;
  gradients.d_k = d_k.data, gradients.add_k = d_k.add;
  gradients.d_v = d_v.data, gradients.add_v = d_v.add;
  return gradients;
}

}  // namespace

Var attention(Var q, Var k, Var v, const ScoreTerms& terms, const Dropout& dropout, AttentionProbe* probe) {
  require<ShapeError>(q && k && v, "attention: q is {}, k is {}, v is {}; all three are needed", text(q),
                      text(k), text(v));
  const OpScope watched(q.tape(), "attention");
  const ScoreTerm term = terms.term;
  const Shape &queries = q.shape(), &keys = k.shape(), &values = v.shape();
  require<ShapeError>(queries.rank() == 4 && keys.rank() == 4,
                      "attention: q is {}, k is {}; expected [batch, heads, rows, head width]", text(q),
                      text(k));
  require<ShapeError>(keys == values, "attention: k is {}, v is {}; they must be equal in shape", text(k),
                      text(v));
  const auto check = [&](bool holds, const char* what) {
    if (!holds) [[unlikely]]
      fail<ShapeError>("attention: q is {}, k is {}; {}", queries.text(), keys.text(), what);
  };
  check(queries[0] == keys[0], "batches must match");
  check(queries[3] == keys[3], "head widths must match");
  check(keys[1] > 0 && queries[1] % keys[1] == 0, "the key heads must divide the query heads");
  check(queries[2] <= keys[2], "there may not be more query rows than key rows");

  AttentionProblem problem;
  problem.batch = queries[0], problem.heads = queries[1], problem.key_heads = keys[1];
  problem.query_rows = queries[2], problem.key_rows = keys[2], problem.width = queries[3];
  problem.q = q.value().data, problem.k = k.value().data, problem.v = v.value().data;
  problem.query = problem.output = HeadRows::by_head(problem.heads, problem.query_rows, problem.width);
  problem.key = problem.value = HeadRows::by_head(problem.key_heads, problem.key_rows, problem.width);
  describe(problem, terms, dropout);
  Tape& tape = q.tape();
  const AttentionResult result = run_attention(tape, problem, term, tape.recording(), probe);
  const TermInputs learned = learned_inputs(term);
  const Var query_scale = terms.query_scale;
  const auto wanted = [&](Var operand) { return tape.recording() && operand.needs_grad(); };
  const OpWork work = attention_work(tape, problem, {wanted(q), wanted(k), wanted(v)});
  return tape.record("attention", {queries, result.out},
                     {q, k, v, query_scale, learned[0], learned[1], learned[2], learned[3], learned[4]}, work,
                     [=](Var output) {
                       const AttentionGradients gradients = wanted_gradients(q, k, v);
                       differentiate_attention(output.tape().arena(), problem, term, query_scale, result,
                                               output.grad().data, gradients);
                     });
}

Var attention(Var q, const CachedKeyValues& cache, const ScoreTerms& terms, AttentionProbe* probe) {
  require<ShapeError>(static_cast<bool>(q), "attention: q is absent");
  const OpScope watched(q.tape(), "attention");
  const Shape& queries = q.shape();
  Tape& tape = q.tape();
  require<StateError>(
      !tape.recording(),
      "attention: a cache has no gradient; use a tape with Recording::off, or k and v as values");
  require<ShapeError>(queries.rank() == 4, "attention: q is {}; expected [batch, heads, rows, head width]",
                      text(q));
  const auto check = [&](bool holds, const char* what) {
    if (holds) [[likely]]
      return;
    fail<ShapeError>("attention: q is {}, the cache holds [{}, {}, {}, {}]; {}", queries.text(), cache.batch,
                     cache.heads, cache.rows, cache.width, what);
  };
  check(queries[0] == cache.batch, "batches must match");
  check(queries[3] == cache.width, "head widths must match");
  check(cache.heads > 0 && queries[1] % cache.heads == 0, "the key heads must divide the query heads");
  check(queries[2] <= cache.rows, "there may not be more query rows than cached rows");

  AttentionProblem problem;
  problem.batch = queries[0], problem.heads = queries[1], problem.key_heads = cache.heads;
  problem.query_rows = queries[2], problem.key_rows = cache.rows, problem.width = queries[3];
  problem.q = q.value().data, problem.k = cache.keys, problem.v = cache.values;
  problem.query = problem.output = HeadRows::by_head(problem.heads, problem.query_rows, problem.width);
  problem.key = problem.value = {cache.heads * cache.head_stride, cache.head_stride, cache.width};
  describe(problem, terms, {});
  const AttentionResult result = run_attention(tape, problem, terms.term, false, probe);
  return tape.record("attention", {queries, result.out}, {q}, attention_work(tape, problem, {}), [](Var) {});
}

}  // namespace tapeline::inline TAPELINE_PRECISION

#include <array>
#include <variant>

#include "core/error.h"
#include "core/ops/attention_run.h"
#include "core/ops/head_columns.h"

namespace tapeline::inline TAPELINE_PRECISION {

Var joint_attention(Var joint, Index heads, Index key_value_heads, const ScoreTerms& terms,
                    const Dropout& dropout, AttentionProbe* probe) {
  constexpr const char* op = "joint_attention";
  require<ShapeError>(static_cast<bool>(joint), "{}: the joint rows are absent", op);
  const auto [query, key, value] = joint_columns(op, joint.shape(), heads, key_value_heads);
  const Index batch = query.batch, time = query.time, width = query.width;
  Tape& tape = joint.tape();
  const OpScope watched(tape, op);
  const ScoreTerm term = terms.term;

  AttentionProblem problem;
  problem.batch = batch, problem.heads = heads, problem.key_heads = key_value_heads;
  problem.query_rows = problem.key_rows = time, problem.width = width;
  problem.query = query.in_rows(), problem.key = key.in_rows(), problem.value = value.in_rows();
  problem.output = HeadRows::by_row(time, heads * width, width);
  describe(problem, terms, dropout);
  const std::array<Index, 3> first{query.first, key.first, value.first};
  problem.q = joint.value().data + first[0];
  problem.k = joint.value().data + first[1];
  problem.v = joint.value().data + first[2];
  const AttentionResult result = run_attention(tape, problem, term, tape.recording(), probe);

  const TermInputs learned = learned_inputs(term);
  const Var query_scale = terms.query_scale;
  const bool wanted = tape.recording() && joint.needs_grad();
  return tape.record(op, {{batch, time, heads * width}, result.out},
                     {joint, query_scale, learned[0], learned[1], learned[2], learned[3], learned[4]},
                     attention_work(tape, problem, {wanted, wanted, wanted}), [=](Var output) {
                       AttentionGradients gradients;
                       if (joint.needs_grad()) {  // its three parts stand in it, like the operands
                         const GradientTarget d_joint = joint.grad_target();
                         gradients.d_q = d_joint.tensor.data + first[0];
                         gradients.d_k = d_joint.tensor.data + first[1];
                         gradients.d_v = d_joint.tensor.data + first[2];
                         gradients.add_q = gradients.add_k = gradients.add_v = d_joint.beta != 0;
                       }
                       differentiate_attention(output.tape().arena(), problem, term, query_scale, result,
                                               output.grad().data, gradients);
                     });
}

}  // namespace tapeline::inline TAPELINE_PRECISION

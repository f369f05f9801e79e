#include <array>
#include <variant>

#include "core/error.h"
#include "core/ops/attention_run.h"
#include "core/ops/head_columns.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Heads as the kernel reads them: columns of the joint rows where they stand, or, turned, a copy of their
/// own.
struct HeadOperand {
  HeadColumns columns;
  Turn turn;
  bool turned() const { return turn.width > 0; }

  HeadRows rows() const { return turned() ? columns.in_heads() : columns.in_rows(); }
  const Real* forward(Tape& tape, const Real* joint) const {
    if (!turned()) return joint + columns.first;
    const Tensor heads = tape.allocate(columns.shape());
    cut(columns, turn, false, joint, heads.data);
    return heads.data;
  }

  // Where the gradient of the heads goes: its place among that of the joint rows, or scratch that is turned
  // back into it afterwards.
  struct Gradient {
    Real* heads = nullptr;  // not wanted
    bool add = false;
  };
  Gradient gradient(Arena& arena, const GradientTarget& d_joint) const {
    if (d_joint.tensor.data == nullptr) return {};
    if (!turned()) return {d_joint.tensor.data + columns.first, d_joint.beta != 0};
    return {arena.allocate_array<Real>(static_cast<std::size_t>(columns.shape().size())), false};
  }
  void finish(const Gradient& gradient, const GradientTarget& d_joint) const {
    if (turned() && gradient.heads != nullptr)
      join(columns, turn, d_joint.beta != 0, gradient.heads, d_joint.tensor.data);
  }
};

}  // namespace

Var joint_attention(Var joint, Index heads, Index key_value_heads, const Rotation& query_rotation,
                    const Rotation& key_rotation, const ScoreTerms& terms, const Dropout& dropout,
                    AttentionProbe* probe) {
  constexpr const char* op = "joint_attention";
  const std::array<HeadColumns, 3> columns = joint_columns(op, joint, heads, key_value_heads);
  const Index batch = columns[0].batch, time = columns[0].time, width = columns[0].width;
  const HeadOperand query{columns[0], turn_of(op, query_rotation, time, width)},
      key{columns[1], turn_of(op, key_rotation, time, width)}, value{columns[2], {}};
  Tape& tape = joint.tape();
  const OpScope watched(tape, op);
  const ServedTerm term = served_term(terms);

  AttentionProblem problem;
  problem.batch = batch, problem.heads = heads, problem.key_heads = key_value_heads;
  problem.query_rows = problem.key_rows = time, problem.width = width;
  problem.query = query.rows(), problem.key = key.rows(), problem.value = value.rows();
  problem.output = HeadRows::by_row(time, heads * width, width);
  describe(problem, terms, term, dropout);
  problem.q = query.forward(tape, joint.value().data);
  problem.k = key.forward(tape, joint.value().data);
  problem.v = value.forward(tape, joint.value().data);
  const AttentionResult result = run_attention(tape, problem, term, tape.recording(), probe);

  const TermInputs learned = learned_inputs(term);
  const Var query_scale = terms.query_scale;
  const bool wanted = tape.recording() && joint.needs_grad();
  return tape.record(
      op, {{batch, time, heads * width}, result.out},
      {joint, query_scale, learned[0], learned[1], learned[2], learned[3], learned[4]},
      attention_work(tape, problem, {wanted, wanted, wanted}), [=](Var output) {
        Arena& arena = output.tape().arena();
        const GradientTarget d_joint = joint.needs_grad() ? joint.grad_target() : GradientTarget{};
        const HeadOperand::Gradient d_query = query.gradient(arena, d_joint),
                                    d_key = key.gradient(arena, d_joint),
                                    d_value = value.gradient(arena, d_joint);
        AttentionGradients gradients;
        gradients.d_q = d_query.heads, gradients.add_q = d_query.add;
        gradients.d_k = d_key.heads, gradients.add_k = d_key.add;
        gradients.d_v = d_value.heads, gradients.add_v = d_value.add;
        differentiate_attention(arena, problem, term, query_scale, result, output.grad().data, gradients);
        query.finish(d_query, d_joint);
        key.finish(d_key, d_joint);
      });
}

}  // namespace tapeline::inline TAPELINE_PRECISION

#include "core/kernels/loss.h"

#include <algorithm>

#include "core/error.h"
#include "core/kernels/gemm.h"
#include "core/kernels/rows.h"
#include "core/ops.h"
#include "core/ops/operand_text.h"
#include "core/ops/work.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

// A chunk's logits stay in the cache between the product that makes them, the softmax, and the two products
// of its gradient.
constexpr Index most_logits = Index{1} << 17;
Index rows_of_chunk(Index vocabulary) {
  return std::clamp<Index>(most_logits / std::max<Index>(1, vocabulary), 32, 512);
}

// Where gradients for an upstream gradient of 1 go; each absent where not wanted, else written whole.
struct UnitGradients {
  Real* d_x = nullptr;     // [N, C]
  Real* d_head = nullptr;  // [V, C]
  Real* d_bias = nullptr;  // [V]
  bool wanted() const { return d_x != nullptr || d_head != nullptr || d_bias != nullptr; }
};

struct Operands {
  Index rows, width, vocabulary;
  const Real *x, *head, *bias;
  const Token* targets;
};

// The losses of all rows, chunk by chunk, and the gradients of their sum.
void losses_and_gradients(const Operands& o, Arena& arena, double* losses, const UnitGradients& gradients) {
  if (o.rows == 0) {
    if (gradients.d_head != nullptr) std::fill_n(gradients.d_head, o.vocabulary * o.width, Real{0});
    if (gradients.d_bias != nullptr) std::fill_n(gradients.d_bias, o.vocabulary, Real{0});
    return;
  }
  const ArenaScope scratch(arena);
  const Index chunk = std::min(rows_of_chunk(o.vocabulary), o.rows);
  Real* logits = arena.allocate_array<Real>(static_cast<std::size_t>(chunk * o.vocabulary));
  Real* partials = nullptr;
  if (gradients.d_bias != nullptr)
    partials = arena.allocate_array<Real>(static_cast<std::size_t>(column_sums_scratch(o.vocabulary)));
  for (Index begin = 0; begin < o.rows; begin += chunk) {
    const Index rows = std::min(chunk, o.rows - begin);
    const Real* x = o.x + begin * o.width;
    gemm({.transpose_b = true,
          .m = rows,
          .n = o.vocabulary,
          .k = o.width,
          .a = x,
          .lda = o.width,
          .b = o.head,
          .ldb = o.width,
          .c = logits,
          .ldc = o.vocabulary});
    softmax_loss({.rows = rows,
                  .vocabulary = o.vocabulary,
                  .logits = logits,
                  .bias = o.bias,
                  .targets = o.targets + begin,
                  .losses = losses + begin,
                  .gradient = gradients.wanted()});
    if (gradients.d_x != nullptr)  // d_x = d_logits head
      gemm({.m = rows,
            .n = o.width,
            .k = o.vocabulary,
            .a = logits,
            .lda = o.vocabulary,
            .b = o.head,
            .ldb = o.width,
            .c = gradients.d_x + begin * o.width,
            .ldc = o.width});
    if (gradients.d_head != nullptr)  // d_head += d_logits^T x
      gemm({.transpose_a = true,
            .m = o.vocabulary,
            .n = o.width,
            .k = rows,
            .a = logits,
            .lda = o.vocabulary,
            .b = x,
            .ldb = o.width,
            .beta = begin == 0 ? Real{0} : Real{1},
            .c = gradients.d_head,
            .ldc = o.width});
    if (gradients.d_bias != nullptr)
      column_sums(logits, rows, o.vocabulary, begin == 0 ? Real{0} : Real{1}, gradients.d_bias, partials);
  }
}

void add_scaled(Var input, const Real* unit_gradient, Real upstream) {
  if (unit_gradient == nullptr) return;
  const GradientTarget target = input.grad_target();
  scaled_add(unit_gradient, target.tensor.size(), upstream, target.beta, target.tensor.data);
}

// The products of the gradients belong to the forward run; the backward run scales what they gave.
OpWork work_of(Var x, Var head, Var bias, const UnitGradients& gradients) {
  const Index product = 2 * numbers(x) * head.shape()[0];
  const Index products = 1 + (gradients.d_x != nullptr ? 1 : 0) + (gradients.d_head != nullptr ? 1 : 0);
  const Index kept =
      gradients.wanted() ? gradient_numbers(x) + gradient_numbers(head) + gradient_numbers(bias) : 0;
  return {.flops = products * product,
          .numbers = numbers(x) + numbers(head) + numbers(bias) + kept,
          .backward_numbers = 2 * kept};
}

void check(Var x, Var head, Var bias, std::span<const Token> targets, const LossDetail* detail) {
  require<ShapeError>(
      x && head && x.shape().rank() >= 1 && head.shape().rank() == 2 && x.shape().last() == head.shape()[1],
      "cross_entropy: x is {}, head is {}; the last extent of x must be the head's second", text(x),
      text(head));
  const Index rows = x.shape().rows(), vocabulary = head.shape()[0];
  require<ShapeError>(!bias || bias.shape() == Shape{vocabulary},
                      "cross_entropy: bias is {}, head is {}; expected a bias of [{}]", text(bias),
                      text(head), vocabulary);
  require<ShapeError>(static_cast<Index>(targets.size()) == rows,
                      "cross_entropy: x is {} with {} rows, targets are {}; expected one a row", text(x),
                      rows, targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i)
    require<ShapeError>(
        targets[i] >= -1 && targets[i] < vocabulary,
        "cross_entropy: target {} is {}; expected 0 to {}, or -1 for a row that is not scored", i, targets[i],
        vocabulary - 1);
  if (detail != nullptr && !detail->row_losses.empty())
    require<ShapeError>(static_cast<Index>(detail->row_losses.size()) == rows,
                        "cross_entropy: room for {} row losses was given; x has {} rows",
                        detail->row_losses.size(), rows);
}

}  // namespace

Var cross_entropy(Var x, Var head, Var bias, std::span<const Token> targets, LossDetail* detail) {
  check(x, head, bias, targets, detail);
  const Operands operands{x.shape().rows(), x.shape().last(),  head.shape()[0],
                          x.value().data,   head.value().data, bias ? bias.value().data : nullptr,
                          targets.data()};
  Tape& tape = x.tape();
  const OpScope watched(tape, "cross_entropy");
  const Tensor loss = tape.allocate({});
  // The gradients for an upstream gradient of 1 are kept until backward, which only multiplies by a number.
  const auto unit = [&tape](Var input) -> Real* {
    return input && tape.recording() && input.needs_grad() ? tape.allocate(input.shape()).data : nullptr;
  };
  const UnitGradients gradients{unit(x), unit(head), unit(bias)};
  double total = 0;
  {
    const ArenaScope scratch(tape.arena());
    double* losses = tape.arena().allocate_array<double>(targets.size());
    losses_and_gradients(operands, tape.arena(), losses, gradients);
    for (std::size_t i = 0; i < targets.size(); ++i) total += losses[i];
    if (detail != nullptr) {
      detail->total = total;
      for (std::size_t i = 0; i < detail->row_losses.size(); ++i)
        detail->row_losses[i] = static_cast<Real>(losses[i]);
    }
  }
  *loss.data = static_cast<Real>(total);
  return tape.record("cross_entropy", loss, {x, head, bias}, work_of(x, head, bias, gradients),
                     [=](Var output) {
                       const Real upstream = *output.grad().data;
                       add_scaled(x, gradients.d_x, upstream);
                       add_scaled(head, gradients.d_head, upstream);
                       add_scaled(bias, gradients.d_bias, upstream);
                     });
}

}  // namespace tapeline::inline TAPELINE_PRECISION

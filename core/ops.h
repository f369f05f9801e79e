#pragma once

#include <optional>
#include <span>

#include "core/attention.h"
#include "core/tape.h"

/// The vocabulary of the tape. Letters: B batch, T time (rows of a sequence), C width, H heads, Hkv key/value
/// heads, D head width, V vocabulary, N any number of rows. Every op throws ShapeError naming itself, the
/// operands and their shapes. d_x is the gradient of the loss by x.
namespace tapeline::inline TAPELINE_PRECISION {

// --- arithmetic (core/ops/arithmetic.cpp) --------------------------------------------------------------

/// a + b, a - b, a * b, element by element. Shapes are aligned at the last axis; an extent 1 or a missing
/// axis is repeated, and its gradient is summed back.
Var add(Var a, Var b);
Var subtract(Var a, Var b);
Var multiply(Var a, Var b);
/// factor * x.
Var scale(Var x, Real factor);
/// The sum of all elements, accumulated in double -> [].
Var sum(Var x);
/// x under another shape of equal size; no copy.
Var reshape(Var x, const Shape& shape);

/// Whether a value stays as long as the tape, or passes: it may be forgotten (Tape::forget) once it is used,
/// and is made again in the backward run.
enum class Lifetime { tape, passing };

// --- products (core/ops/products.cpp, linear.cpp, linear_heads.cpp) -----------------------------------

enum class Transposed : bool { no, yes };
/// op(a) op(b), op(a) [M, K], op(b) [K, N] -> [M, N]. Matrices only.
Var matmul(Var a, Var b, Transposed transpose_a = Transposed::no, Transposed transpose_b = Transposed::no);
/// y = x W^T + bias: x [..., in], weight [out, in], bias [out] or absent -> [..., out].
Var linear(Var x, Var weight, Var bias);
/// stream + x W^T + bias in one op: what add() and linear() give, without a pass of its own for the sum.
/// stream [..., out].
Var linear_onto(Var stream, Var x, Var weight, Var bias);
/// The joint product of query, key and value heads, x [B, T, C] -> [B, T, (H + 2 Hkv) D], with query and key
/// heads turned where the product leaves them, as rotate() would turn them. Rotations, where given, have
/// tables of T rows.
Var linear_heads(Var x, Var weight, Var bias, Index heads, Index key_value_heads,
                 const Rotation& query_rotation, const Rotation& key_rotation);
/// gelu(x W^T + bias) in one op, as linear() and gelu() would give it. Keeps the product alone where the
/// result passes: in the backward run one pass makes the result again and turns the product into the
/// derivative.
Var linear_gelu(Var x, Var weight, Var bias, Lifetime lifetime = Lifetime::tape);
/// The same with gelu_tanh().
Var linear_gelu_tanh(Var x, Var weight, Var bias, Lifetime lifetime = Lifetime::tape);

// --- normalisation (core/ops/normalize.cpp) ------------------------------------------------------------

/// (x - mean) / sqrt(variance + epsilon) * gain + shift over the last axis; variance of the centred values.
/// gain, shift [C]; shift may be absent. (Ba, Kiros, Hinton 2016.)
Var layer_norm(Var x, Var gain, Var shift, double epsilon, Lifetime lifetime = Lifetime::tape);
/// x / sqrt(mean(x^2) + epsilon) * gain. (Zhang, Sennrich 2019.)
Var rms_norm(Var x, Var gain, double epsilon, Lifetime lifetime = Lifetime::tape);

// --- activations (core/ops/activations.cpp) ------------------------------------------------------------

/// x Phi(x), Phi by the error function. (Hendrycks, Gimpel 2016.)
Var gelu(Var x);
/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): GPT-2's form.
Var gelu_tanh(Var x);
/// a * silu(b) with x = [b | a] along the last axis: [..., 2F] -> [..., F]. (Shazeer 2020.)
Var swiglu(Var x);

// --- dropout (core/ops/dropout.cpp) --------------------------------------------------------------------

/// x with elements set to 0 with probability `rate`, survivors divided by 1 - rate. x [B, T, C]; the decision
/// for (sequence, row, feature) is drawn by counter. `first_row`: number of row 0 in its sequence. rate 0
/// returns x. Throws ConfigError for a rate outside [0, 1].
Var dropout(Var x, const Dropout& dropout, Index first_row = 0);

// --- embedding and loss (core/ops/embedding.cpp, core/ops/loss.cpp) ------------------------------------

/// Rows of `table` [V, C] by `ids` -> [B, T, C] for ids of B * T tokens. Gradients of a repeated row add up.
/// Throws ShapeError for an id outside the table.
Var embedding(Var table, std::span<const Token> ids, Index batch, Index time);
/// Rows of `table` [rows, C] by index -> [n, C] (positions).
Var gather_rows(Var table, std::span<const Index> rows);

/// What cross_entropy tells beside the sum.
struct LossDetail {
  double total = 0;                 ///< the sum in double
  std::span<Real> row_losses = {};  ///< [N] nats of each row, filled when given
};
/// The summed negative log-likelihood, in nats, of `targets` under softmax(x W^T + bias): x [..., C] of N
/// rows, head [V, C], bias [V] or absent -> []. Logits exist for one chunk of rows at a time; when a gradient
/// is wanted it is taken in the same pass over the chunk. A target of -1 is not scored. Throws ShapeError for
/// a target outside the vocabulary.
Var cross_entropy(Var x, Var head, Var bias, std::span<const Token> targets, LossDetail* detail = nullptr);

// --- heads and rotation (core/ops/heads.cpp, core/ops/rotary.cpp) --------------------------------------

/// Query, key and value heads cut out of one product: x [B, T, (H + 2 Hkv) D] -> q [B, H, T, D], k, v [B,
/// Hkv, T, D].
struct HeadsSplit {
  Var query, key, value;
};
HeadsSplit split_heads(Var x, Index heads, Index key_value_heads);
/// [B, H, T, D] -> [B, T, H D].
Var merge_heads(Var x);
/// x [B, H, T, D] with the first `width` features of every head turned: (x_a, x_b) ->
/// (x_a cos - x_b sin, x_b cos + x_a sin). The gradient is the transposed map. (Su et al. 2021, 2104.09864.)
/// The tables are constants: StateError where they want a gradient.
Var rotate(Var x, const Rotation& rotation);

}  // namespace tapeline::inline TAPELINE_PRECISION

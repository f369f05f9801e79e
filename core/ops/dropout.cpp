#include <algorithm>
#include <array>

#include "core/dropout_counter.h"
#include "core/error.h"
#include "core/ops.h"
#include "core/ops/operand_text.h"
#include "core/parallel.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Columns whose factors are drawn at a time.
constexpr Index chunk = 64;

/// out = factor * in, or out += factor * in; [B, T, C] each. The factors are drawn again in the backward run,
/// so nothing is saved.
void apply_factors(const Tensor& in, const Tensor& out, bool accumulate, const Dropout& dropout,
                   Index first_row) {
  const Index time = in.shape[1], width = in.shape[2];
  if (in.size() == 0) return;
  const DropoutCounter counter(dropout.key, dropout.rate);
  parallel_for(in.shape[0] * time, std::max<Index>(1, 4096 / width), [&](Index begin, Index end) {
    std::array<Real, chunk> factors;
    for (Index row = begin; row < end; ++row) {
      for (Index first = 0; first < width; first += chunk) {
        const Index count = std::min(chunk, width - first);
        counter.factors(dropout.first_sequence + row / time, 0, first_row + row % time, first, count,
                        factors.data());
        const Real* x = in.data + row * width + first;
        Real* y = out.data + row * width + first;
        const Real* factor = factors.data();
        if (accumulate) {
          for (Index c = 0; c < count; ++c) y[c] += factor[c] * x[c];
        } else {
          for (Index c = 0; c < count; ++c) y[c] = factor[c] * x[c];
        }
      }
    }
  });
}

}  // namespace

Var dropout(Var x, const Dropout& dropout, Index first_row) {
  require<ConfigError>(dropout.rate >= 0 && dropout.rate <= 1,
                       "dropout: the rate is {}; it must lie in [0, 1]", dropout.rate);
  require<ShapeError>(x && x.shape().rank() == 3, "dropout: x is {}; expected [batch, time, width]", text(x));
  if (dropout.rate == 0) return x;
  const OpScope watched(x.tape(), "dropout");
  const Tensor out = x.tape().allocate(x.shape());
  apply_factors(x.value(), out, false, dropout, first_row);
  const OpWork work{.numbers = 2 * out.size(), .backward_numbers = 2 * out.size()};
  return x.tape().record("dropout", out, {x}, work, [=](Var output) {
    const GradientTarget target = x.grad_target();
    apply_factors(output.grad(), target.tensor, target.beta != 0, dropout, first_row);
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION

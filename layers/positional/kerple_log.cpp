#include "layers/positional/kerple_log.h"

#include "layers/positional/kerple.h"

namespace tapeline::inline TAPELINE_PRECISION {

const EncodingKind& kerple_log_kind() {
  static const EncodingKind kind{
      .name = "kerple_log",
      .title = "kernelized bias of distances (KERPLE), logarithmic",
      .formula = "score(i, j) = q_i . k_j / sqrt(d) - r1 ln(1 + r2 |i - j|)",
      .acts_on = "scores, every layer",
      .parameters = "2 x heads, shared by the layers unless per_layer",
      .beyond = "runs; holds its quality",
      .paper =
          "Chi, Fan, Ramadge, Rudnicky 2022, \"KERPLE: Kernelized Relative Positional Embedding for Length "
          "Extrapolation\", arXiv:2205.09921",
      .options = {kerple_per_layer()},
      .make =
          [](const OptionValues& options, const EncodingContext& context) {
            return make_kerple(KerpleForm::logarithm, options, context);
          },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

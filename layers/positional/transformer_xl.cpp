#include "layers/positional/transformer_xl.h"

namespace tapeline::inline TAPELINE_PRECISION {

const EncodingKind& transformer_xl_kind() {
  static const EncodingKind kind{
      .name = "transformer_xl",
      .title = "relative positions of Transformer-XL",
      .formula =
          "score(i, j) = ((q_i + u) . k_j + (q_i + v) . W_R R(i - j)) / sqrt(d), R(t) = [sin(t f_p) | cos(t "
          "f_p)], f_p = 10000^(-2p/C)",
      .acts_on = "scores, every layer",
      .parameters = "width x width a layer, and 2 x width for all layers",
      .beyond = "runs; the sinusoids go on, with clamp_len the last one repeats",
      .paper =
          "Dai, Yang, Yang, Carbonell, Le, Salakhutdinov 2019, \"Transformer-XL: Attentive Language Models "
          "beyond a Fixed-Length Context\", arXiv:1901.02860",
      .options = {{.name = "clamp_len",
                   .initial = Index{0},
                   .help = "distances beyond it count as this one; 0: as they are"},
                  {.name = "per_layer",
                   .initial = false,
                   .help = "u, v and W_R one a layer instead of one for all"},
                  {.name = "projection_per_layer",
                   .initial = true,
                   .help = "W_R one a layer, as in the authors' code; false: one for all"}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        const bool per_layer = options.flag("per_layer");
        return std::make_unique<ProjectedSinusoids>(
            context,
            ProjectedSinusoids::Settings{
                .biases_per_layer = per_layer,
                .projection_per_layer = per_layer || options.flag("projection_per_layer"),
                .clamp = options.integer("clamp_len")},
            "positional.transformer_xl.clamp_len");
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

#include "layers/positional/xlnet.h"

namespace tapeline::inline TAPELINE_PRECISION {

const EncodingKind& xlnet_kind() {
  static const EncodingKind kind{
      .name = "xlnet",
      .title = "relative positions of XLNet",
      .formula =
          "score(i, j) = ((q_i + u) . k_j + (q_i + v) . W_R R(i - j)) / sqrt(d), as transformer_xl, with u, "
          "v "
          "and W_R of each layer",
      .acts_on = "scores, every layer",
      .parameters = "a layer: width x width and 2 x width",
      .beyond = "runs; the sinusoids go on, with clamp_len the last one repeats",
      .paper =
          "Yang, Dai, Yang, Carbonell, Salakhutdinov, Le 2019, \"XLNet: Generalized Autoregressive "
          "Pretraining for Language Understanding\", arXiv:1906.08237",
      .options = {{.name = "clamp_len",
                   .initial = Index{0},
                   .help = "distances beyond it count as this one; 0: as they are"}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        return std::make_unique<ProjectedSinusoids>(
            context,
            ProjectedSinusoids::Settings{.biases_per_layer = true,
                                         .projection_per_layer = true,
                                         .clamp = options.integer("clamp_len")},
            "positional.xlnet.clamp_len");
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

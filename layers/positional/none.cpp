#include "layers/positional/none.h"

#include "core/error.h"

namespace tapeline::inline TAPELINE_PRECISION {

const EncodingKind& none_kind() {
  static const EncodingKind kind{
      .name = "none",
      .title = "no positional encoding (NoPE)",
      .formula = "score(i, j) = q_i . k_j / sqrt(d)",
      .acts_on = "nothing; the causal mask alone tells positions apart",
      .parameters = "none",
      .beyond = "runs; quality falls",
      .paper =
          "Haviv, Ram, Press, Izsak, Levy 2022, \"Transformer Language Models without Positional "
          "Encodings Still Learn Positional Information\", arXiv:2203.16634; Kazemnejad, Padhi, "
          "Natesan Ramamurthy, Das, Reddy 2023, \"The Impact of Positional Encoding on Length "
          "Generalization in Transformers\", arXiv:2305.19466",
      .options = {},
      .make = [](const OptionValues&, const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        require<ConfigError>(context.causal,
                             "positional.kind = \"none\" needs the causal mask: without it no order can be "
                             "told apart; choose another kind");
        return std::make_unique<NoPositions>(context.head_width);
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

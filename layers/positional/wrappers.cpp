#include "layers/positional/wrappers.h"

namespace tapeline {

std::span<const WrapperKind> wrapper_kinds() {
  static const std::vector<WrapperKind> kinds = {
      {.name = "logn",
       .title = "scores scaled by the logarithm of the keys seen",
       .formula =
           "f_i q_i . k_j in place of q_i . k_j, f_i = ln n_i / ln L, with clip at least 1; n_i keys are "
           "seen by row i, L is the trained length or base_length",
       .acts_on = "scores, every layer; also after training",
       .parameters = "none",
       .beyond = "runs; attention stays about as sharp as at L",
       .paper = "Su Jianlin 2021, kexue.fm/archives/8823; Chiang, Cholak 2022, \"Overcoming a Theoretical "
                "Limitation of Self-Attention\", arXiv:2202.12172",
       .keys = {"positional.score.scale", "positional.score.clip", "positional.score.base_length"}},
      {.name = "ssmax",
       .title = "scalable softmax",
       .formula =
           "f_i q_i . k_j in place of q_i . k_j, f_i = s_h ln n_i, s_h learned: the softmax to base n^s",
       .acts_on = "scores, every layer",
       .parameters = "one a head and layer",
       .beyond = "runs; attention stays about as sharp as at L",
       .paper = "Nakanishi 2025, \"Scalable-Softmax Is Superior for Attention\", arXiv:2501.19399",
       .keys = {"positional.score.scale"}},
      {.name = "llama4",
       .title = "the attention temperature of Llama 4",
       .formula = "f_i q_i . k_j in place of q_i . k_j, f_i = 1 + a ln(floor(n_i / floor_scale) + 1), "
                  "a = attention_scale",
       .acts_on = "scores, every layer; in a pattern those of kind none; also after training",
       .parameters = "none",
       .beyond = "runs; 1 below floor_scale keys, rising in steps above",
       .paper = "Meta 2025, Llama 4, github.com/meta-llama/llama-models, models/llama4/model.py",
       .keys = {"positional.score.scale", "positional.score.floor_scale",
                "positional.score.attention_scale"}},
      {.name = "window",
       .title = "sliding window",
       .formula = "row i sees the keys j with 0 <= i - j < window, itself counted",
       .acts_on = "which keys are seen, every layer; also after training",
       .parameters = "none",
       .beyond = "runs; through the layers a row is reached by window x layers rows",
       .paper = "Beltagy, Peters, Cohan 2020, \"Longformer: The Long-Document Transformer\", "
                "arXiv:2004.05150; Jiang et al. 2023, \"Mistral 7B\", arXiv:2310.06825",
       .keys = {"positional.keys.window"}},
      {.name = "sinks",
       .title = "attention sinks",
       .formula = "with a window, row i sees the keys j < sinks too",
       .acts_on = "which keys are seen, every layer; also after training",
       .parameters = "none",
       .beyond = "runs; a window keeps the quality that it loses without them",
       .paper = "Xiao, Tian, Chen, Han, Lewis 2023, \"Efficient Streaming Language Models with Attention "
                "Sinks\", arXiv:2309.17453",
       .keys = {"positional.keys.sinks", "positional.keys.window"}},
      {.name = "randomized",
       .title = "randomized positions",
       .formula =
           "in training row t has the position r_t of a draw r_0 < ... < r_(L-1) from [0, maximum), one a "
           "step; in evaluation t itself (arange), or such a draw (sample)",
       .acts_on = "the positions that any encoding gets",
       .parameters = "none; a learned table has maximum rows",
       .beyond = "runs up to maximum, whose positions were all seen, and refuses past it",
       .paper = "Ruoss, Deletang, Genewein, Grau-Moya, Csordas, Bennani, Legg, Veness 2023, \"Randomized "
                "Positional Encodings Boost Length Generalization of Transformers\", arXiv:2305.16843",
       .keys = {"positional.randomized.maximum", "positional.randomized.evaluation"}},
      {.name = "pattern",
       .title = "kinds by layer",
       .formula =
           "layer l has the kind number l mod P of the P kinds of the pattern: rope, none, rope, none, ...",
       .acts_on = "which encoding a layer has",
       .parameters = "those of its kinds",
       .beyond = "as the kinds; refuses where one of them does",
       .paper = "Yang, Venkitesh, Talupuru, Lin, Cairuz, Blunsom, Locatelli 2025, \"Rope to Nope and Back "
                "Again: A New Hybrid Attention Strategy\", arXiv:2501.18795",
       .keys = {"positional.layers.pattern"}},
  };
  return kinds;
}

}  // namespace tapeline

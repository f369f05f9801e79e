#include <cmath>

#include "experiments/claims/linear_bias.h"
#include "experiments/claims/made_up.h"
#include "experiments/claims/subjects.h"

namespace tapeline {

std::vector<Claim> linear_bias_claims() {
  return {
      {.id = "alibi-slopes",
       .statement = "ALiBi's slopes for n heads are 2^(-8h/n), h = 1 … n, whatever n is",
       .source = "Press et al. 2022 (ALiBi), arXiv:2108.12409, section 3, read so by many ports; see "
                 "ofirpress/attention_with_linear_biases#17",
       .computed = "The slopes of every number of heads up to 128, which follow the paper's own program, "
                   "against the formula. True if all agree within 1e-6.",
       .kinds = {"alibi"},
       .compute = [] { return slopes_are_geometric(built_slopes); }},
      {.id = "alibi-future",
       .statement = "Without a causal mask ALiBi's bias written as m·(j - i) rewards keys after the query",
       .source = "circulating: code walk-throughs that compute j - i under a comment |i - j|",
       .computed =
           "Attention of 32 equal queries and keys without a mask under m·(j - i), m = 1/2. True if the "
           "middle row gives more weight to the keys after it than to those before it.",
       .compute =
           [] {
             return bias_rewards_the_future(
                 [](Index distance) { return -0.5 * static_cast<double>(distance); });
           }},
      {.id = "alibi-key-index",
       .statement =
           "ALiBi as m·j, from the number of the key, computes the same as -m·(i - j), in float32 too",
       .source = "circulating: BLOOM's and the paper's own code; ofirpress/attention_with_linear_biases#18",
       .computed =
           "The last 64 rows of random attention over 8192 keys with m = 1/2, both ways in float32, against "
           "double: equal in exact arithmetic. True if the key's number costs at most 1e-5, or at most ten "
           "times the error by distance.",
       .compute = [] { return key_index_is_as_good(8192, bias_errors(8192)); }},
      {.id = "alibi-local",
       .statement = "ALiBi's steepest head looks at some ten keys, however long the context",
       .source = "Chi et al. 2023, arXiv:2212.10356: receptive fields of ALiBi",
       .computed =
           "How many keys hold 99 % of the weight of the last row, where the bias alone decides, in 8 heads "
           "at lengths 512 and 4096. True if in the first head they are as many at both, at most 20.",
       .kinds = {"alibi"},
       .compute = [] { return steepest_head_is_local(EncodingView(claim_plan("alibi", 64, 8))); }},
      {.id = "row-constant",
       .statement = "A number added to all scores of a row changes nothing",
       .source = "circulating; it makes m·j and m·(j - i) one model (mosaicml/llm-foundry#186)",
       .computed = "Random causal attention of 64 rows, with and without a number between -10 and 10 a row "
                   "added to its scores. True if the outputs agree within 1e-5.",
       .compute =
           [] {
             return addition_changes_nothing(
                 {.by_row = [](Index row) { return 10 * std::sin(static_cast<double>(row)); }, .by_key = {}});
           }},
  };
}

}  // namespace tapeline

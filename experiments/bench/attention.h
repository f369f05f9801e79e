#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/bench/rounds.h"
#include "train/config.h"

namespace tapeline {

/// The attention op alone at one length.
struct AttentionSpeed {
  Index length = 0;
  Index sequences = 0;                                                  ///< run at once
  Index repeats = 0;                                                    ///< that were made
  double forward_seconds = 0, backward_seconds = 0, seconds = 0;        ///< medians; seconds: both
  double forward_gflops = 0, backward_gflops = 0, gflops = 0;           ///< pairs that are seen
  std::optional<double> floor_forward_seconds, floor_backward_seconds;  ///< see AttentionTiles
  double gemm_ratio = 0;  ///< gflops over those of the best sgemm

  std::optional<double> floor_seconds() const {
    if (!floor_forward_seconds) return std::nullopt;
    return *floor_forward_seconds + *floor_backward_seconds;
  }
  std::optional<double> floor_ratio() const {
    if (!floor_forward_seconds) return std::nullopt;
    return seconds / *floor_seconds();
  }
};

struct AttentionSpeeds {
  int threads = 1;
  Index repeats = 0;
  std::string encoding;  ///< positional.kind, whose score terms act
  Index heads = 0, key_value_heads = 0, head_width = 0;
  std::string best_gemm;        ///< "1024 x 1024 x 1024, oneDNN, rows split"
  double best_gemm_gflops = 0;  ///< the fastest of a few large products
  std::vector<AttentionSpeed> lengths;
};

/// As many sequences as make 8,192 tokens, at least one: every length has about the same tokens.
Index attention_sequences(Index length);

/// What the op does to those shapes: two products forward, five backward over the pairs that are seen.
struct AttentionFlops {
  double forward = 0, backward = 0;
};
AttentionFlops attention_flops(const Config& config, Index length, Index sequences);

/// Forward and backward of the streaming op on made-up operands, at the heads, the mask and the score terms
/// of the configuration; rotations and rows added to the input are not part of it. All lengths, their floors
/// and the large products take turns. A length on which `seconds_each` are spent has no further repeat.
/// Throws ConfigError, before anything is timed, where memory does not hold it.
AttentionSpeeds measure_attention(const Config& config, const std::vector<Index>& lengths,
                                  double seconds_each, const BenchOptions& options);

}  // namespace tapeline

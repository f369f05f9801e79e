#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/token_store.h"
#include "data/tokenizer.h"
#include "layers/transformer.h"
#include "train/scored_set.h"

namespace tapeline {

/// nonoverlapping: windows of T stand side by side, the j-th target of a window sees j tokens of it and
/// nothing before. sliding: every window covers T inputs and scores the last S: full history.
enum class Protocol { nonoverlapping, sliding };
/// "nonoverlapping", "sliding". Throws ConfigError for any other name.
Protocol parse_protocol(const std::string& name);

/// One line of an evaluation: one length under one protocol on one set of targets.
struct EvaluationCell {
  Protocol protocol = Protocol::nonoverlapping;
  Index length = 0;
  Index stride = 0;     ///< S; nonoverlapping: the length
  bool subset = false;  ///< on the sliding subset instead of the whole set
  /// "nonoverlapping", "sliding", "nonoverlapping_subset".
  std::string protocol_name() const;
  /// Non-overlapping, on the whole scored set: what tables and figures tell first.
  bool on_whole_set() const { return protocol == Protocol::nonoverlapping && !subset; }
  bool operator==(const EvaluationCell&) const = default;
};

/// What to evaluate, and on which targets.
struct EvaluationPlan {
  ScoredSet scored;
  ScoredSet subset;  ///< for sliding and nonoverlapping_subset
  /// For the probes history and shuffle: single targets, spread evenly, with the longest sliding window
  /// before each where the text has it.
  ScoredSet probe_targets;
  /// For the probe attention: about as many targets as the subset, in pieces of the longest length.
  ScoredSet attention;
  std::vector<EvaluationCell> cells;
};

/// Targets of the probes history and shuffle: what they cost goes by this number.
inline constexpr Index probe_target_count = 256;

/// The cells that the configuration asks for, on `scored`: every length non-overlapping; where sliding is
/// asked for, also, on the subset: up to sliding_up_to with S = stride (0: L/2), S = 1 at L, and
/// non-overlapping once more. A sliding stride longer than the length is cut to the length. The subset has
/// sliding_tokens targets, of whichever set that is, in pieces of `longest_sliding`, at least one; 0: of the
/// longest sliding length of this configuration. Configurations that are to be compared must be given the
/// same. Throws ConfigError when sliding alone is asked for and every length is above sliding_up_to.
EvaluationPlan evaluation_plan(const Config& config, ScoredSet scored, Index longest_sliding = 0);
/// About how many tokens a cell runs through the model.
Index input_tokens(const EvaluationPlan& plan, const EvaluationCell& cell);
/// The longest length that the configuration evaluates with sliding windows; 0 without any.
Index longest_sliding_length(const Config& config);

/// Mean loss at positions first .. last (counted from 1) of the windows.
struct PositionBin {
  Index first = 1, last = 1;
  Index tokens = 0;
  double nll = 0;
};

/// Sums over one scored segment, for the bootstrap.
struct SegmentLoss {
  double total = 0;
  Index tokens = 0;
};

struct EvaluationResult {
  EvaluationCell cell;
  std::string status = "ok";  ///< "ok", "refused" (the encoding has no such length), "diverged" (NaN)
  std::string reason;         ///< why, when not ok
  Index scored_tokens = 0;
  Index scored_bytes = 0;
  double nll = std::numeric_limits<double>::quiet_NaN();  ///< mean nats a token
  double bits_per_byte = std::numeric_limits<double>::quiet_NaN();
  double perplexity = std::numeric_limits<double>::quiet_NaN();  ///< exp(nll) a token; may be infinite
  double tail_nll = std::numeric_limits<double>::quiet_NaN();    ///< positions (T/2, T]; nonoverlapping only
  Index tail_tokens = 0;
  double tokens_per_second = 0;        ///< input tokens run a second
  double peak_bytes = 0;               ///< activations at their highest, and the key/value cache
  Index short_windows = 0;             ///< windows shorter than the length (segment ends, text ends)
  std::vector<PositionBin> positions;  ///< nonoverlapping only
  PositionBin early, late;  ///< positions (0.05 T, 0.15 T] and (0.85 T, 0.95 T]; nonoverlapping only
  std::vector<SegmentLoss> segments;
};

/// The result on the whole set in non-overlapping windows of that length; nullptr: it has not been done.
const EvaluationResult* whole_set_result(std::span<const EvaluationResult> results, Index length);

/// The figures that follow from sums: mean, bits a byte, perplexity.
void finish_result(EvaluationResult& result, double total_nll);

struct EvaluationOptions {
  /// Called after each batch with the share of this cell that is done; may throw to stop.
  std::function<void(double)> progress;
  Index batch_tokens = 2048;  ///< short windows are run several at once, up to this many tokens
  Index chunk = 1024;         ///< longer windows are run in chunks of this many rows over the cache
  Index key_limit = 0;        ///< last keys that a row sees at most, see Pass; 0: as the model has it
};

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

/// Rows that the cache of a window holds at once: with a window of keys it drops what no later row can see.
Index cached_rows(const KeyMask& keys, Index length, Index chunk);

/// Why the model has no windows of that length, for people; nothing when it has.
std::optional<std::string> refused_length(const Transformer& model, Index length);

/// Runs one cell, without tape and without dropout. A length that the encoding refuses is a result with
/// status "refused". Polls signals (throws Stopped).
EvaluationResult evaluate_cell(const Transformer& model, const TokenStore& text, const Tokenizer& tokenizer,
                               const EvaluationPlan& plan, const EvaluationCell& cell,
                               const EvaluationOptions& options = {});

}  // namespace tapeline::inline TAPELINE_PRECISION

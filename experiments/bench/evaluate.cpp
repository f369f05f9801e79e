#include "experiments/bench/evaluate.h"

#include <algorithm>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/bench/floor.h"
#include "experiments/bench/limits.h"
#include "experiments/bench/made_up.h"
#include "experiments/bench/operations.h"
#include "experiments/bench/stopwatch.h"
#include "experiments/median.h"
#include "train/config_derived.h"
#include "train/evaluate.h"

namespace tapeline {
namespace {

/// Rows that the evaluation runs at once.
Index rows_at_once(Index length) { return std::min(length, EvaluationOptions().chunk); }

/// One length: its text, its plan of a single window, its floor, its times.
class Window {
 public:
  Window(const Config& config, const Transformer& model, Index length, bool with_floor)
      : length_(length),
        text_(made_up_text(length + 1, model.plan().vocabulary, config.train.seed)),
        plan_{.scored = scored_all({{0, text_.size()}}),
              .subset = {},
              .probe_targets = {},
              .attention = {},
              .cells = {}} {
    if (with_floor) floor_ = window_floor(config, model.plan().vocabulary, length, rows_at_once(length));
  }

  Index length() const { return length_; }

  void repeat(const Transformer& model, const Tokenizer& tokenizer) {
    if (floor_) floor_->measure();
    EvaluationResult result;
    seconds_.push_back(seconds_of([&] { result = evaluate_cell(model, text_, tokenizer, plan_, cell()); }));
    require<StateError>(result.status == "ok" && result.scored_tokens == length_,
                        "bench evaluate: length {} ended as \"{}\" with {} targets scored", length_,
                        result.status, result.scored_tokens);
    peak_bytes_ = result.peak_bytes;
  }

  WindowSpeed speed(const Config& config, const Transformer& model) const {
    WindowSpeed speed;
    speed.length = length_;
    speed.seconds = median(seconds_);
    speed.tokens_per_second = static_cast<double>(length_) / speed.seconds;
    speed.gflops = forward_flops(config.model, model.plan().vocabulary, 0, length_, config.positional.keys) /
                   speed.seconds / 1e9;
    speed.peak_bytes =
        peak_bytes_ + static_cast<double>(model.parameters().size()) * static_cast<double>(sizeof(Real));
    if (!floor_) return speed;
    speed.floor_seconds = floor_->seconds();
    speed.floor_ratio = speed.seconds / *speed.floor_seconds;
    return speed;
  }

 private:
  EvaluationCell cell() const {
    return {.protocol = Protocol::nonoverlapping, .length = length_, .stride = length_, .subset = false};
  }

  Index length_;
  TokenStore text_;
  EvaluationPlan plan_;
  std::optional<Floor> floor_;
  std::vector<double> seconds_;
  double peak_bytes_ = 0;
};

/// The key/value cache of the longest window, the texts and the floors of all.
double bytes_of(const Config& config, const std::vector<Index>& lengths, bool with_floor) {
  const ModelConfig& model = config.model;
  double bytes = 0;
  for (const Index length : lengths) {
    const Index kept = cached_rows(config.positional.keys, length, rows_at_once(length));
    const double cache = 2.0 * static_cast<double>(model.layers) * static_cast<double>(kept) *
                         static_cast<double>(model.resolved_key_value_heads() * model.head_width());
    bytes = std::max(bytes, sizeof(Real) * cache);
  }
  for (const Index length : lengths) bytes += made_up_text_bytes(length + 1);
  if (!with_floor) return bytes;
  for (const Index length : lengths) {
    bytes += AttentionTiles::bytes({.heads = model.heads,
                                    .length = length,
                                    .head_width = model.head_width(),
                                    .window = config.positional.keys.window},
                                   AttentionTiles::Run::forward);
  }
  return bytes;
}

}  // namespace

EvaluationSpeed measure_evaluation(const Config& config, const std::vector<Index>& lengths,
                                   const BenchOptions& options) {
  const Index longest = std::ranges::max(lengths);
  require_room(fmt::format("bench evaluate: length {}", longest), bytes_of(config, lengths, options.floor));
  Rounds rounds(options);
  const Transformer model(model_plan(config));
  require_length(model, "bench evaluate: --lengths", longest);
  const std::unique_ptr<Tokenizer> tokenizer = make_tokenizer("bytes");
  std::vector<Window> windows;
  windows.reserve(lengths.size());
  for (const Index length : lengths) windows.emplace_back(config, model, length, options.floor);

  for (Index round = 0; round < options.repeats; ++round) {
    for (Window& window : windows) {
      rounds.turn(round, fmt::format("length {}", window.length()));
      window.repeat(model, *tokenizer);
    }
  }
  EvaluationSpeed speed;
  speed.threads = thread_count();
  speed.repeats = options.repeats;
  for (const Window& window : windows) speed.lengths.push_back(window.speed(config, model));
  return speed;
}

}  // namespace tapeline

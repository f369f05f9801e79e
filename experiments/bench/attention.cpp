#include "experiments/bench/attention.h"

#include <algorithm>
#include <optional>

#include "core/attention.h"
#include "core/error.h"
#include "core/ops.h"
#include "core/parallel.h"
#include "experiments/bench/attention_tiles.h"
#include "experiments/bench/limits.h"
#include "experiments/bench/made_up.h"
#include "experiments/bench/product_times.h"
#include "experiments/bench/stopwatch.h"
#include "experiments/median.h"
#include "layers/model_positions.h"
#include "train/config_derived.h"
#include "train/flops.h"

namespace tapeline {
namespace {

constexpr Index tokens_at_once = 8192;
// Heads of one length cost the same: of a floor at longer ones only as many are timed as threads need.
constexpr Index longest_whole_floor = 8192;

struct OpSeconds {
  double forward = 0, backward = 0;
};

/// The op on operands that all lengths share.
class AttentionOp {
 public:
  AttentionOp(const Config& config, Index most_tokens)
      : config_(config),
        query_(made_up_numbers({most_tokens, config.model.width}, "query")),
        key_(made_up_numbers({most_tokens, key_width()}, "key")),
        value_(made_up_numbers({most_tokens, key_width()}, "value")),
        weights_(made_up_numbers({most_tokens, config.model.width}, "weights")) {
    positions_.emplace(model_plan(config), store_.root(), ModelPositions::registered(config.positional));
    store_.allocate(config.train.seed);
  }

  OpSeconds run(Index length, Index sequences) {
    const Index heads = config_.model.heads, width = config_.model.head_width();
    const Shape queries{sequences, heads, length, width};
    const Shape keys{sequences, config_.model.resolved_key_value_heads(), length, width};
    watch_.clear();
    {
      Tape tape(arena_, pool_, Recording::on, &watch_);
      Pass pass(tape);
      pass.declared_context = length;
      const auto positions = positions_->of_pass(pass, 0, length);
      const ScoreTerms terms = positions_->of_layer(pass, positions, 0, false).terms;
      const Var mixed = attention(tape.variable({queries, query_.data()}), tape.variable({keys, key_.data()}),
                                  tape.variable({keys, value_.data()}), terms);
      tape.backward(sum(multiply(mixed, tape.constant({queries, weights_.data()}))));
    }
    OpSeconds seconds;
    for (const Timing& timing : watch_.timings()) {
      if (timing.name != "attention") continue;
      (timing.phase == Phase::forward ? seconds.forward : seconds.backward) +=
          1e-9 * static_cast<double>(timing.end - timing.begin);
    }
    return seconds;
  }

 private:
  Index key_width() const { return config_.model.resolved_key_value_heads() * config_.model.head_width(); }

  const Config& config_;
  Storage query_, key_, value_, weights_;
  ParameterStore store_;
  std::optional<ModelPositions> positions_;
  Arena arena_;
  GradientPool pool_;
  Watch watch_;
};

AttentionTiles::Size floor_size(const Config& config, Index length) {
  const Index all = config.model.heads * attention_sequences(length);
  return {.heads = length > longest_whole_floor ? std::min<Index>(all, thread_count()) : all,
          .length = length,
          .head_width = config.model.head_width(),
          .window = config.positional.keys.window};
}

/// One length: its floor and its times.
class TimedLength {
 public:
  TimedLength(const Config& config, Index length, bool with_floor)
      : config_(config), length_(length), sequences_(attention_sequences(length)) {
    if (with_floor) tiles_.emplace(floor_size(config, length), AttentionTiles::Run::training);
  }

  Index length() const { return length_; }
  double spent() const { return spent_; }

  void repeat(AttentionOp& op) {
    spent_ += seconds_of([&] {
      // The first run takes its memory from the system; a long one does not notice.
      if (forward_.empty() && length_ <= tokens_at_once) op.run(length_, sequences_);
      if (tiles_) tiles_->measure();
      const OpSeconds seconds = op.run(length_, sequences_);
      forward_.push_back(seconds.forward);
      backward_.push_back(seconds.backward);
      both_.push_back(seconds.forward + seconds.backward);
    });
  }

  AttentionSpeed speed(double best_gemm_gflops) const {
    AttentionSpeed speed;
    speed.length = length_;
    speed.sequences = sequences_;
    speed.repeats = static_cast<Index>(both_.size());
    speed.forward_seconds = median(forward_);
    speed.backward_seconds = median(backward_);
    speed.seconds = median(both_);
    const AttentionFlops flops = attention_flops(config_, length_, sequences_);
    speed.forward_gflops = flops.forward / speed.forward_seconds / 1e9;
    speed.backward_gflops = flops.backward / speed.backward_seconds / 1e9;
    speed.gflops = (flops.forward + flops.backward) / speed.seconds / 1e9;
    speed.gemm_ratio = speed.gflops / best_gemm_gflops;
    if (!tiles_) return speed;
    const double times =
        static_cast<double>(config_.model.heads * sequences_) / static_cast<double>(tiles_->size().heads);
    speed.floor_forward_seconds = times * tiles_->forward().seconds;
    speed.floor_backward_seconds = times * tiles_->backward().seconds;
    return speed;
  }

 private:
  const Config& config_;
  Index length_, sequences_;
  std::optional<AttentionTiles> tiles_;
  std::vector<double> forward_, backward_, both_;
  double spent_ = 0;
};

/// Operands, output and what the loss makes of it, and as many gradients; the floors of all lengths.
double bytes_of_attention(const Config& config, const std::vector<Index>& lengths, Index most_tokens,
                          bool with_floor) {
  double bytes =
      12.0 * sizeof(Real) * static_cast<double>(most_tokens) * static_cast<double>(config.model.width);
  if (!with_floor) return bytes;
  for (const Index length : lengths)
    bytes += AttentionTiles::bytes(floor_size(config, length), AttentionTiles::Run::training);
  return bytes;
}

/// The products among which the best sgemm of a run is sought: squares, and a feed-forward layer's.
ProductTimes large_products(const ModelConfig& model) {
  ProductTimes products;
  for (const Index size : {512, 1024}) products.add_product("square", size, size, size);
  products.add_product("feed-forward in", 2048, model.resolved_feed_forward_width(), model.width);
  products.add_product("feed-forward out", 2048, model.width, model.resolved_feed_forward_width());
  return products;
}

}  // namespace

Index attention_sequences(Index length) { return std::max<Index>(1, tokens_at_once / length); }

AttentionFlops attention_flops(const Config& config, Index length, Index sequences) {
  const double product =
      2 * seen_pairs(0, length, config.positional.keys) * static_cast<double>(config.model.width * sequences);
  return {.forward = 2 * product, .backward = 5 * product};
}

AttentionSpeeds measure_attention(const Config& config, const std::vector<Index>& lengths,
                                  double seconds_each, const BenchOptions& options) {
  Index most_tokens = 0;
  for (const Index length : lengths)
    most_tokens = std::max(most_tokens, length * attention_sequences(length));
  require_room(fmt::format("bench attention: length {}", std::ranges::max(lengths)),
               bytes_of_attention(config, lengths, most_tokens, options.floor));
  Rounds rounds(options);
  AttentionOp op(config, most_tokens);
  ProductTimes products = large_products(config.model);
  std::vector<TimedLength> all;
  all.reserve(lengths.size());
  for (const Index length : lengths) all.emplace_back(config, length, options.floor);

  for (Index round = 0; round < options.repeats; ++round) {
    rounds.turn(round, "large products");
    products.measure();
    for (TimedLength& length : all) {
      if (length.spent() > seconds_each) continue;
      rounds.turn(round, fmt::format("length {}", length.length()));
      length.repeat(op);
    }
  }
  AttentionSpeeds speeds;
  speeds.threads = thread_count();
  speeds.repeats = options.repeats;
  speeds.encoding = config.positional.name();
  speeds.heads = config.model.heads;
  speeds.key_value_heads = config.model.resolved_key_value_heads();
  speeds.head_width = config.model.head_width();
  for (const ProductTimes::Line& line : products.lines()) {
    const double gflops = line.flops() / line.fastest_seconds() / 1e9;
    if (gflops <= speeds.best_gemm_gflops) continue;
    speeds.best_gemm_gflops = gflops;
    speeds.best_gemm = fmt::format("{} x {} x {}, {}", line.m, line.n, line.k, line.times[line.fastest].name);
  }
  for (const TimedLength& length : all) speeds.lengths.push_back(length.speed(speeds.best_gemm_gflops));
  return speeds;
}

}  // namespace tapeline

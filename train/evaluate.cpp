#include "train/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.h"
#include "train/evaluation_windows.h"
#include "train/signals.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr Index single_positions = 16;

// 0 .. 15 for positions 1 .. 16, then one bin a doubling: 17-32, 33-64, ...
std::size_t position_bin(Index position) {
  if (position <= single_positions) return static_cast<std::size_t>(position - 1);
  std::size_t bin = single_positions;
  for (Index last = 2 * single_positions; last < position; last *= 2) ++bin;
  return bin;
}

std::vector<PositionBin> position_bins(Index length) {
  std::vector<PositionBin> bins;
  for (Index first = 1; first <= length;) {
    const Index last = first <= single_positions ? first : std::min(length, 2 * (first - 1));
    bins.push_back({first, last, 0, 0});
    first = last + 1;
  }
  return bins;
}

// Runs the windows of one cell and adds up their losses.
class CellRun {
 public:
  CellRun(const Transformer& model, const TokenStore& text, const Tokenizer& tokenizer,
          const EvaluationCell& cell, const ScoredSet& set, const EvaluationOptions& options)
      : model_(model),
        text_(text),
        tokenizer_(tokenizer),
        options_(options),
        chunk_(model.rows_a_pass(options.chunk)),
        cell_(cell) {
    windows_ = evaluation_windows(set, cell);
    result_.cell = cell;
    result_.segments.resize(set.segments.size());
    if (cell.protocol == Protocol::nonoverlapping) result_.positions = position_bins(cell.length);
    for (const EvaluationWindow& window : windows_) tokens_in_all_ += window.inputs;
  }

  EvaluationResult run() {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t first = 0; first < windows_.size();) {
      const Index inputs = windows_[first].inputs;
      if (inputs > chunk_) {
        run_in_chunks(windows_[first]);
        ++first;
        continue;
      }
      // Neighbours of equal length together.
      const auto most = static_cast<std::size_t>(std::max<Index>(1, options_.batch_tokens / inputs));
      std::size_t last = first + 1;
      while (last < windows_.size() && last - first < most && windows_[last].inputs == inputs) ++last;
      run_batch(first, last);
      first = last;
    }
    finish();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    result_.tokens_per_second = static_cast<double>(tokens_in_all_) / elapsed.count();
    return std::move(result_);
  }

 private:
  // Fills inputs and targets of a window; targets that are not scored become -1.
  void read(const EvaluationWindow& window, std::span<Token> inputs, std::span<Token> targets) {
    token_buffer_.resize(static_cast<std::size_t>(window.inputs + 1));
    text_.read(window.begin, token_buffer_);
    std::copy(token_buffer_.begin(), token_buffer_.end() - 1, inputs.begin());
    std::copy(token_buffer_.begin() + 1, token_buffer_.end(), targets.begin());
    std::fill_n(targets.begin(), window.inputs - window.scored, Token{-1});
  }

  // The losses of rows [begin, end) of one window.
  void add(const EvaluationWindow& window, Index begin, std::span<const Token> targets,
           std::span<const Real> losses) {
    SegmentLoss& segment = result_.segments[static_cast<std::size_t>(window.segment)];
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] < 0) continue;
      const double loss = losses[i] + tokenizer_.open_nats(targets[i]);
      segment.total += loss;
      ++segment.tokens;
      result_.scored_bytes += tokenizer_.byte_count(targets[i]);
      if (result_.positions.empty()) continue;
      const Index position = begin + static_cast<Index>(i) + 1;
      PositionBin& bin = result_.positions[position_bin(position)];
      ++bin.tokens;
      bin.nll += loss;
      if (2 * position > cell_.length) {
        ++tail_tokens_;
        tail_ += loss;
      }
    }
  }

  void loss_rows(std::span<const Token> inputs, std::span<const Token> targets, Index batch,
                 KeyValueCache* cache) {
    losses_.resize(inputs.size());
    Tape tape(arena_, pool_, Recording::off);
    Pass pass(tape);
    pass.declared_context = cell_.length;
    pass.position_key = random_key(0, "evaluation positions");  // the same for every model, window and chunk
    LossDetail detail;
    detail.row_losses = losses_;
    model_.loss(pass, inputs, targets, batch, &detail, cache);
  }

  void run_batch(std::size_t first, std::size_t last) {
    const auto inputs = static_cast<std::size_t>(windows_[first].inputs);
    const std::size_t batch = last - first;
    inputs_.resize(batch * inputs);
    targets_.resize(batch * inputs);
    for (std::size_t w = 0; w < batch; ++w) {
      read(windows_[first + w], std::span(inputs_).subspan(w * inputs, inputs),
           std::span(targets_).subspan(w * inputs, inputs));
    }
    loss_rows(inputs_, targets_, static_cast<Index>(batch), nullptr);
    for (std::size_t w = 0; w < batch; ++w) {
      add(windows_[first + w], 0, std::span(targets_).subspan(w * inputs, inputs),
          std::span(losses_).subspan(w * inputs, inputs));
    }
    moved_on(static_cast<Index>(inputs_.size()));
  }

  void run_in_chunks(const EvaluationWindow& window) {
    if (!cache_)
      cache_.emplace(model_.make_cache(1, cached_rows(model_.plan().positional.keys, cell_.length, chunk_)));
    cache_->clear();
    const auto count = static_cast<std::size_t>(window.inputs);
    inputs_.resize(count);
    targets_.resize(count);
    read(window, inputs_, targets_);
    for (std::size_t begin = 0; begin < count;) {
      const std::size_t rows = std::min(static_cast<std::size_t>(chunk_), count - begin);
      const std::span<const Token> targets = std::span(targets_).subspan(begin, rows);
      loss_rows(std::span(inputs_).subspan(begin, rows), targets, 1, &*cache_);
      add(window, static_cast<Index>(begin), targets, losses_);
      moved_on(static_cast<Index>(rows));
      begin += rows;
    }
  }

  void moved_on(Index tokens) {
    tokens_done_ += tokens;
    stop_if_signalled();
    if (options_.progress) {
      options_.progress(static_cast<double>(tokens_done_) / static_cast<double>(tokens_in_all_));
    }
  }

  void finish() {
    double total = 0;
    for (const SegmentLoss& segment : result_.segments) {
      total += segment.total;
      result_.scored_tokens += segment.tokens;
    }
    for (const EvaluationWindow& window : windows_) result_.short_windows += window.inputs < cell_.length;
    for (PositionBin& bin : result_.positions) {
      if (bin.tokens > 0) bin.nll /= static_cast<double>(bin.tokens);
    }
    std::erase_if(result_.positions, [](const PositionBin& bin) { return bin.tokens == 0; });
    if (tail_tokens_ > 0) result_.tail_nll = tail_ / static_cast<double>(tail_tokens_);
    result_.peak_bytes = static_cast<double>(arena_.peak_bytes() + pool_.peak_bytes());
    if (cache_) result_.peak_bytes += static_cast<double>(cache_->bytes());
    finish_result(result_, total);
  }

  const Transformer& model_;
  const TokenStore& text_;
  const Tokenizer& tokenizer_;
  const EvaluationOptions& options_;
  Index chunk_;  // rows run at once
  EvaluationCell cell_;
  std::vector<EvaluationWindow> windows_;
  EvaluationResult result_;
  Arena arena_;
  GradientPool pool_;
  std::optional<KeyValueCache> cache_;
  std::vector<Token> token_buffer_, inputs_, targets_;
  std::vector<Real> losses_;
  Index tokens_in_all_ = 0, tokens_done_ = 0, tail_tokens_ = 0;
  double tail_ = 0;
};

}  // namespace

Index cached_rows(const KeyMask& keys, Index length, Index chunk) {
  return keys.window == 0 ? length : std::min(length, keys.sinks + keys.window + chunk);
}

EvaluationResult evaluate_cell(const Transformer& model, const TokenStore& text, const Tokenizer& tokenizer,
                               const EvaluationPlan& plan, const EvaluationCell& cell,
                               const EvaluationOptions& options) {
  const std::optional<Index> limit = model.max_length();
  if (limit && cell.length > *limit) {
    EvaluationResult refused;
    refused.cell = cell;
    refused.status = "refused";
    refused.reason = fmt::format("{} positions end at row {}, length {} is past them", model.limited_by(),
                                 *limit, cell.length);
    return refused;
  }
  return CellRun(model, text, tokenizer, cell, cell.subset ? plan.subset : plan.scored, options).run();
}

}  // namespace tapeline::inline TAPELINE_PRECISION

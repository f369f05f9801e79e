#include "train/window_losses.h"

#include <algorithm>

#include "train/signals.h"

namespace tapeline::inline TAPELINE_PRECISION {

WindowLosses::WindowLosses(const Transformer& model, const TokenStore& text, const WindowSettings& settings,
                           const EvaluationOptions& options)
    : model_(model),
      text_(text),
      settings_(settings),
      options_(options),
      chunk_(model.rows_a_pass(options.chunk)) {}

void WindowLosses::run(std::span<const EvaluationWindow> windows,
                       const std::function<void(const WindowRows&)>& use) {
  tokens_in_all_ = tokens_done_ = 0;
  for (const EvaluationWindow& window : windows) tokens_in_all_ += window.inputs;
  for (std::size_t first = 0; first < windows.size();) {
    const Index inputs = windows[first].inputs;
    if (inputs > chunk_) {
      run_in_chunks(windows[first], use);
      ++first;
      continue;
    }
    // Neighbours of equal length together.
    const auto most = static_cast<std::size_t>(std::max<Index>(1, options_.batch_tokens / inputs));
    std::size_t last = first + 1;
    while (last < windows.size() && last - first < most && windows[last].inputs == inputs) ++last;
    run_batch(windows.subspan(first, last - first), use);
    first = last;
  }
}

double WindowLosses::peak_bytes() const {
  double bytes = static_cast<double>(arena_.peak_bytes() + pool_.peak_bytes());
  if (cache_) bytes += static_cast<double>(cache_->bytes());
  return bytes;
}

// Fills inputs and targets of a window; targets that are not scored become -1.
void WindowLosses::read(const EvaluationWindow& window, std::span<Token> inputs, std::span<Token> targets) {
  token_buffer_.resize(static_cast<std::size_t>(window.inputs + 1));
  text_.read(window.begin, token_buffer_);
  std::copy(token_buffer_.begin(), token_buffer_.end() - 1, inputs.begin());
  std::copy(token_buffer_.begin() + 1, token_buffer_.end(), targets.begin());
  std::fill_n(targets.begin(), window.inputs - window.scored, Token{-1});
  if (settings_.change) settings_.change(window, inputs);
}

void WindowLosses::run_batch(std::span<const EvaluationWindow> windows,
                             const std::function<void(const WindowRows&)>& use) {
  const auto rows = static_cast<std::size_t>(windows.front().inputs);
  inputs_.resize(windows.size() * rows);
  targets_.resize(windows.size() * rows);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    read(windows[w], std::span(inputs_).subspan(w * rows, rows), std::span(targets_).subspan(w * rows, rows));
  }
  loss_rows(inputs_, targets_, static_cast<Index>(windows.size()), nullptr);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    use({windows[w], 0, std::span(targets_).subspan(w * rows, rows),
         std::span(losses_).subspan(w * rows, rows)});
  }
  moved_on(inputs_.size());
}

void WindowLosses::run_in_chunks(const EvaluationWindow& window,
                                 const std::function<void(const WindowRows&)>& use) {
  if (!cache_) {
    const KeyMask keys = model_.plan().positional.keys.limited_to(settings_.key_limit);
    const Index longest = std::max(window.inputs, settings_.declared_context);
    cache_.emplace(model_.make_cache(1, cached_rows(keys, longest, chunk_), settings_.key_limit));
  }
  cache_->clear();
  const auto count = static_cast<std::size_t>(window.inputs);
  inputs_.resize(count);
  targets_.resize(count);
  read(window, inputs_, targets_);
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t rows = std::min(static_cast<std::size_t>(chunk_), count - begin);
    const std::span<const Token> targets = std::span(targets_).subspan(begin, rows);
    loss_rows(std::span(inputs_).subspan(begin, rows), targets, 1, &*cache_);
    use({window, static_cast<Index>(begin), targets, losses_});
    moved_on(rows);
    begin += rows;
  }
}

void WindowLosses::loss_rows(std::span<const Token> inputs, std::span<const Token> targets, Index batch,
                             KeyValueCache* cache) {
  losses_.resize(inputs.size());
  Tape tape(arena_, pool_, Recording::off);
  Pass pass(tape);
  pass.declared_context = settings_.declared_context;
  pass.key_limit = settings_.key_limit;
  pass.probes = settings_.probes;
  pass.position_key = random_key(0, "evaluation positions");  // the same for every model, window and chunk
  LossDetail detail;
  detail.row_losses = losses_;
  model_.loss(pass, inputs, targets, batch, &detail, cache);
}

void WindowLosses::moved_on(std::size_t tokens) {
  tokens_done_ += static_cast<Index>(tokens);
  stop_if_signalled();
  if (options_.progress) {
    options_.progress(static_cast<double>(tokens_done_) / static_cast<double>(tokens_in_all_));
  }
}

}  // namespace tapeline::inline TAPELINE_PRECISION

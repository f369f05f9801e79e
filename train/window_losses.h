#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "data/token_store.h"
#include "layers/transformer.h"
#include "train/evaluation_windows.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// What windows of an evaluation are run under.
struct WindowSettings {
  Index declared_context = 0;  ///< see Pass; windows at the ends of a text may be shorter
  Index key_limit = 0;         ///< see Pass
  /// One a layer, filled over all windows; empty: none. Must stay in place while windows run.
  std::span<AttentionProbe> probes = {};
  /// Changes the inputs of a window before it runs; the targets stay those of the text. Absent: nothing.
  std::function<void(const EvaluationWindow&, std::span<Token> inputs)> change = {};
};

/// The losses of neighbouring rows of one window.
struct WindowRows {
  const EvaluationWindow& window;
  Index first;                     ///< row of the first of them in the window, from 0
  std::span<const Token> targets;  ///< [rows]; -1: not scored
  std::span<const Real> losses;    ///< [rows], nats a token; of scored rows only
};

/// Runs windows of a text through a model, without tape and without dropout: short ones several at once, long
/// ones in chunks over a cache.
class WindowLosses {
 public:
  /// All arguments must live as long.
  WindowLosses(const Transformer& model, const TokenStore& text, const WindowSettings& settings,
               const EvaluationOptions& options);

  /// Runs the windows in their order and hands over the rows of each from the first to the last. Polls
  /// signals (throws Stopped) and tells the progress, as a share of these windows.
  void run(std::span<const EvaluationWindow> windows, const std::function<void(const WindowRows&)>& use);

  /// Activations at their highest so far, and the cache.
  double peak_bytes() const;

 private:
  void read(const EvaluationWindow& window, std::span<Token> inputs, std::span<Token> targets);
  void run_batch(std::span<const EvaluationWindow> windows,
                 const std::function<void(const WindowRows&)>& use);
  void run_in_chunks(const EvaluationWindow& window, const std::function<void(const WindowRows&)>& use);
  void loss_rows(std::span<const Token> inputs, std::span<const Token> targets, Index batch,
                 KeyValueCache* cache);
  void moved_on(std::size_t tokens);

  const Transformer& model_;
  const TokenStore& text_;
  const WindowSettings& settings_;
  const EvaluationOptions& options_;
  Index chunk_;  // rows run at once
  Arena arena_;
  GradientPool pool_;
  std::optional<KeyValueCache> cache_;
  std::vector<Token> token_buffer_, inputs_, targets_;
  std::vector<Real> losses_;
  Index tokens_in_all_ = 0, tokens_done_ = 0;
};

}  // namespace tapeline::inline TAPELINE_PRECISION

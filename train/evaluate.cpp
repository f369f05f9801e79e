#include "train/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.h"
#include "train/evaluation_windows.h"
#include "train/window_losses.h"

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

// The positions above `from` twentieths of the length, up to `to` twentieths.
PositionBin twentieths(Index length, Index from, Index to) {
  return {from * length / 20 + 1, to * length / 20, 0, 0};
}

void add_to(PositionBin& bin, Index position, double loss) {
  if (position < bin.first || position > bin.last) return;
  ++bin.tokens;
  bin.nll += loss;
}

void finish(PositionBin& bin) {
  if (bin.tokens > 0) bin.nll /= static_cast<double>(bin.tokens);
}

// Adds up the losses of one cell.
class CellSums {
 public:
  CellSums(const Tokenizer& tokenizer, const EvaluationCell& cell, const ScoredSet& set)
      : tokenizer_(tokenizer) {
    result_.cell = cell;
    result_.segments.resize(set.segments.size());
    if (cell.protocol != Protocol::nonoverlapping) return;
    result_.positions = position_bins(cell.length);
    result_.early = twentieths(cell.length, 1, 3);
    result_.late = twentieths(cell.length, 17, 19);
    tail_ = {cell.length / 2 + 1, cell.length, 0, 0};
  }

  void add(const WindowRows& rows) {
    SegmentLoss& segment = result_.segments[static_cast<std::size_t>(rows.window.segment)];
    for (std::size_t i = 0; i < rows.targets.size(); ++i) {
      const Token target = rows.targets[i];
      if (target < 0) continue;
      const double loss = rows.losses[i] + tokenizer_.open_nats(target);
      segment.total += loss;
      ++segment.tokens;
      result_.scored_bytes += tokenizer_.byte_count(target);
      if (result_.positions.empty()) continue;
      const Index position = rows.first + static_cast<Index>(i) + 1;
      PositionBin& bin = result_.positions[position_bin(position)];
      ++bin.tokens;
      bin.nll += loss;
      add_to(result_.early, position, loss);
      add_to(result_.late, position, loss);
      add_to(tail_, position, loss);
    }
  }

  EvaluationResult finished(const std::vector<EvaluationWindow>& windows) {
    double total = 0;
    for (const SegmentLoss& segment : result_.segments) {
      total += segment.total;
      result_.scored_tokens += segment.tokens;
    }
    for (const EvaluationWindow& window : windows) {
      result_.short_windows += window.inputs < result_.cell.length;
    }
    for (PositionBin& bin : result_.positions) finish(bin);
    std::erase_if(result_.positions, [](const PositionBin& bin) { return bin.tokens == 0; });
    finish(result_.early);
    finish(result_.late);
    finish(tail_);
    result_.tail_tokens = tail_.tokens;
    if (tail_.tokens > 0) result_.tail_nll = tail_.nll;
    finish_result(result_, total);
    return std::move(result_);
  }

 private:
  const Tokenizer& tokenizer_;
  EvaluationResult result_;
  PositionBin tail_{1, 0, 0, 0};
};

}  // namespace

Index cached_rows(const KeyMask& keys, Index length, Index chunk) {
  return keys.window == 0 ? length : std::min(length, keys.sinks + keys.window + chunk);
}

std::optional<std::string> refused_length(const Transformer& model, Index length) {
  const std::optional<Index> limit = model.max_length();
  if (!limit || length <= *limit) return std::nullopt;
  return fmt::format("{} positions end at row {}, length {} is past them", model.limited_by(), *limit,
                     length);
}

EvaluationResult evaluate_cell(const Transformer& model, const TokenStore& text, const Tokenizer& tokenizer,
                               const EvaluationPlan& plan, const EvaluationCell& cell,
                               const EvaluationOptions& options) {
  if (const std::optional<std::string> reason = refused_length(model, cell.length)) {
    EvaluationResult refused;
    refused.cell = cell;
    refused.status = "refused";
    refused.reason = *reason;
    return refused;
  }
  const ScoredSet& set = cell.subset ? plan.subset : plan.scored;
  const std::vector<EvaluationWindow> windows = evaluation_windows(set, cell);
  const WindowSettings settings{
      .declared_context = cell.length, .key_limit = options.key_limit, .probes = {}, .change = {}};
  CellSums sums(tokenizer, cell, set);
  WindowLosses losses(model, text, settings, options);
  const auto start = std::chrono::steady_clock::now();
  losses.run(windows, [&](const WindowRows& rows) { sums.add(rows); });
  EvaluationResult result = sums.finished(windows);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  Index inputs = 0;
  for (const EvaluationWindow& window : windows) inputs += window.inputs;
  result.tokens_per_second = static_cast<double>(inputs) / elapsed.count();
  result.peak_bytes = losses.peak_bytes();
  return result;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

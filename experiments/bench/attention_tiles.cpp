#include "experiments/bench/attention_tiles.h"

#include <algorithm>

#include "core/parallel.h"
#include "experiments/bench/gemm_choices.h"
#include "experiments/bench/made_up.h"
#include "experiments/bench/stopwatch.h"
#include "experiments/median.h"

namespace tapeline::inline TAPELINE_PRECISION {

Index AttentionTiles::widest_tile(const Size& size) {
  return size.window == 0 ? size.length : std::min(size.length, size.window + tile_rows - 1);
}

double AttentionTiles::bytes(const Size& size, Run run) {
  const double head = static_cast<double>(size.length) * static_cast<double>(size.head_width);
  const double workers = thread_count();
  const double operands = (run == Run::training ? 8.0 : 4.0) * static_cast<double>(size.heads) * head;
  const double scratch = workers * 2 * (tile_rows * static_cast<double>(widest_tile(size)) + head);
  return sizeof(Real) * (operands + scratch);
}

AttentionTiles::AttentionTiles(const Size& size, Run run)
    : size_(size),
      tiles_((size.length + tile_rows - 1) / tile_rows),
      values_(made_up_numbers({4, size.heads, size.length, size.head_width}, "attention")),
      scores_(Shape{thread_count(), 2, tile_rows, widest_tile(size)}, "scores of attention's tiles"),
      forward_(serial_gemm_choices().size()) {
  if (run == Run::training) {
    gradients_ = made_up_numbers({4, size.heads, size.length, size.head_width}, "attention gradients");
    split_heads_ =
        Storage(Shape{thread_count(), 2, size.length, size.head_width}, "gradients of attention's tiles");
    backward_.resize(forward_.size());
  }
  deal();
}

Index AttentionTiles::first_key(Index row) const {
  return size_.window == 0 ? 0 : std::max<Index>(0, row - size_.window + 1);
}

// Work of a tile: the keys that it sees. Worker w begins with the first tile that w shares of all work stand
// before.
void AttentionTiles::deal() {
  std::vector<double> before{0};
  for (Index first = 0; first < size_.length; first += tile_rows) {
    const Index seen = std::min(first + tile_rows, size_.length) - first_key(first);
    before.push_back(before.back() + static_cast<double>(seen));
  }
  const double head = before.back(), all = head * static_cast<double>(size_.heads);
  const int workers = thread_count();
  cuts_.assign(1, 0);
  for (Index item = 0; item < size_.heads * tiles_; ++item) {
    const double start =
        head * static_cast<double>(item / tiles_) + before[static_cast<std::size_t>(item % tiles_)];
    while (static_cast<int>(cuts_.size()) < workers &&
           start >= all * static_cast<double>(cuts_.size()) / workers)
      cuts_.push_back(item);
  }
  cuts_.resize(static_cast<std::size_t>(workers) + 1, size_.heads * tiles_);
}

/// Calls `tile(worker, head, first row, whether it is the worker's first one of this head)` on all threads.
void AttentionTiles::for_tiles(const auto& tile) const {
  const auto workers = static_cast<Index>(cuts_.size()) - 1;
  parallel_shares(workers, 1, [&](int worker, Index begin, Index end) {
    const Index from = cuts_[static_cast<std::size_t>(begin)], to = cuts_[static_cast<std::size_t>(end)];
    for (Index item = from; item < to; ++item)
      tile(worker, item / tiles_, item % tiles_ * tile_rows, item == from || item % tiles_ == 0);
  });
}

void AttentionTiles::run_forward(GemmLibrary library) const {
  const GemmChoice choice{library, GemmSplit::library};
  const Index d = size_.head_width, head_size = size_.length * d, part = size_.heads * head_size;
  const Index scores = tile_rows * widest_tile(size_);
  for_tiles([&](int worker, Index head, Index first, bool) {
    Real* const p = scores_.data() + worker * 2 * scores;
    Real* const q = values_.data() + head * head_size;
    const Index n = std::min(tile_rows, size_.length - first), from = first_key(first);
    const Index seen = first + n - from;
    const Real *const k = q + part + from * d, *const v = k + part;
    gemm({false, true, n, seen, d, q + first * d, d, k, d, 0, p, seen}, choice);
    gemm({false, false, n, d, seen, p, seen, v, d, 0, q + 3 * part + first * d, d}, choice);
  });
}

void AttentionTiles::run_backward(GemmLibrary library) const {
  const GemmChoice choice{library, GemmSplit::library};
  const Index d = size_.head_width, head_size = size_.length * d, part = size_.heads * head_size;
  const Index scores = tile_rows * widest_tile(size_);
  for_tiles([&](int worker, Index head, Index first, bool begins) {
    Real* const p = scores_.data() + worker * 2 * scores;
    Real* const dp = p + scores;
    const Index n = std::min(tile_rows, size_.length - first), row = first * d, from = first_key(first);
    const Index seen = first + n - from;
    const Real* const q = values_.data() + head * head_size;
    const Real *const k = q + part + from * d, *const v = k + part;
    Real* const dq = gradients_.data() + head * head_size;
    const Real* const d_out = dq + 3 * part;
    // Of a head that another worker began, that worker has the place; here it is one of the worker's own.
    const Index own_begin = cuts_[static_cast<std::size_t>(worker)];
    const bool split = own_begin / tiles_ == head && own_begin % tiles_ != 0;
    Real* const dk = (split ? split_heads_.data() + worker * 2 * head_size : dq + part) + from * d;
    Real* const dv = dk + (split ? head_size : part);
    const Real beta = begins ? Real{0} : Real{1};
    gemm({false, true, n, seen, d, q + row, d, k, d, 0, p, seen}, choice);
    gemm({false, true, n, seen, d, d_out + row, d, v, d, 0, dp, seen}, choice);
    gemm({true, false, seen, d, n, p, seen, d_out + row, d, beta, dv, d}, choice);
    gemm({false, false, n, d, seen, dp, seen, k, d, 0, dq + row, d}, choice);
    gemm({true, false, seen, d, n, dp, seen, q + row, d, beta, dk, d}, choice);
  });
}

void AttentionTiles::measure() {
  const std::span<const NamedChoice> libraries = serial_gemm_choices();
  for (std::size_t i = 0; i < libraries.size(); ++i) {
    const GemmLibrary library = libraries[i].choice.library;
    forward_[i].push_back(seconds_of([&] { run_forward(library); }));
    if (!backward_.empty()) backward_[i].push_back(seconds_of([&] { run_backward(library); }));
  }
}

AttentionTiles::Time AttentionTiles::fastest(const Seconds& seconds) const {
  Time best;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const double found = median(seconds[i]);
    if (i == 0 || found < best.seconds) best = {std::string(serial_gemm_choices()[i].name), found};
  }
  return best;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

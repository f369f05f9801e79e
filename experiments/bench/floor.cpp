#include "experiments/bench/floor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/parallel.h"
#include "core/random.h"
#include "experiments/bench/median.h"
#include "experiments/bench/stopwatch.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr Index tile_rows = 64;

struct NamedChoice {
  GemmChoice choice;
  const char* name;
};

/// What this build can multiply with.
const std::vector<NamedChoice>& choices() {
#if defined(TAPELINE_STD_THREADS)
  static const std::vector<NamedChoice> all = {{{GemmLibrary::plain, GemmSplit::rows}, "plain loop, rows"}};
#else
  static const std::vector<NamedChoice> all = {
      {{GemmLibrary::openblas, GemmSplit::library}, "OpenBLAS, its own threads"},
      {{GemmLibrary::openblas, GemmSplit::rows}, "OpenBLAS, rows split"},
      {{GemmLibrary::onednn, GemmSplit::library}, "oneDNN, its own threads"},
      {{GemmLibrary::onednn, GemmSplit::rows}, "oneDNN, rows split"}};
#endif
  return all;
}

/// The libraries for attention's tiles, each on one thread.
const std::vector<NamedChoice>& tile_choices() {
#if defined(TAPELINE_STD_THREADS)
  static const std::vector<NamedChoice> all = {{{GemmLibrary::plain, GemmSplit::library}, "plain loop"}};
#else
  static const std::vector<NamedChoice> all = {{{GemmLibrary::openblas, GemmSplit::library}, "OpenBLAS"},
                                               {{GemmLibrary::onednn, GemmSplit::library}, "oneDNN"}};
#endif
  return all;
}

Storage filled(const Shape& shape, std::string_view name) {
  Storage storage(shape);
  const RandomKey key = random_key(0, name);
  for (Index i = 0; i < shape.size(); ++i) {
    storage.data()[i] = static_cast<Real>(random_uniform(key, static_cast<std::uint64_t>(i)) - 0.5);
  }
  return storage;
}

}  // namespace

StepFloor::StepFloor(const ModelConfig& model, Index vocabulary, const StepShape& shape)
    : length_(shape.length),
      heads_in_step_(shape.windows * model.heads),
      head_width_(model.head_width()),
      layers_(model.layers),
      attention_seconds_(tile_choices().size()) {
  const Index rows = shape.micro_batch * shape.length;
  const Index times = shape.windows / shape.micro_batch;
  const Index key_value_width = model.resolved_key_value_heads() * model.head_width();
  const Index inner = model.resolved_feed_forward_width();
  const Index inner_in = model.activation == "swiglu" ? 2 * inner : inner;
  const Index layer_times = times * model.layers;
  add_linear("query, key, value", rows, model.width, model.width + 2 * key_value_width, layer_times);
  add_linear("attention out", rows, model.width, model.width, layer_times);
  add_linear("feed-forward in", rows, model.width, inner_in, layer_times);
  add_linear("feed-forward out", rows, inner, model.width, layer_times);
  add_linear("head", rows, model.width, vocabulary, times);
  // Query, key, value, output of every head of a step, and the gradients of as many; scores a worker.
  memory_.push_back(filled(Shape{4, heads_in_step_, length_, head_width_}, "attention"));
  memory_.push_back(filled(Shape{4, heads_in_step_, length_, head_width_}, "attention gradients"));
  memory_.push_back(filled(Shape{thread_count(), 2, tile_rows, length_}, "scores"));
}

void StepFloor::add(const std::string& name, const Gemm& gemm, Index count) {
  products_.push_back({name, gemm, count, std::vector<std::vector<double>>(choices().size())});
}

void StepFloor::add_linear(const std::string& name, Index rows, Index in, Index out, Index count) {
  memory_.push_back(filled(Shape{rows, in}, name + " x"));
  Real* const x = memory_.back().data();
  memory_.push_back(filled(Shape{out, in}, name + " w"));
  Real* const w = memory_.back().data();
  memory_.push_back(filled(Shape{rows, out}, name + " y"));
  Real* const y = memory_.back().data();
  memory_.push_back(Storage(Shape{std::max(rows, out), std::max(in, out)}));
  Real* const result = memory_.back().data();
  add(name + ", forward", {false, true, rows, out, in, x, in, w, in, 0, result, out}, count);
  add(name + ", dX", {false, false, rows, in, out, y, out, w, in, 0, result, in}, count);
  add(name + ", dW", {true, false, out, in, rows, y, out, x, in, 0, result, in}, count);
}

void StepFloor::run_attention(GemmLibrary library) const {
  const Index d = head_width_;
  const Storage& values = memory_[memory_.size() - 3];
  const Storage& gradients = memory_[memory_.size() - 2];
  const Storage& scores = memory_[memory_.size() - 1];
  const Index head_size = length_ * d, part = heads_in_step_ * head_size;
  const GemmChoice choice{library, GemmSplit::library};
  parallel_shares(heads_in_step_, 1, [&](int worker, Index begin, Index end) {
    Real* const p = scores.data() + worker * 2 * tile_rows * length_;
    Real* const dp = p + tile_rows * length_;
    for (Index head = begin; head < end; ++head) {
      const auto at = [&](const Storage& from, Index which) {
        return from.data() + which * part + head * head_size;
      };
      Real *const q = at(values, 0), *const k = at(values, 1), *const v = at(values, 2),
                  *const o = at(values, 3);
      Real *const dq = at(gradients, 0), *const dk = at(gradients, 1), *const dv = at(gradients, 2);
      Real* const d_out = at(gradients, 3);
      for (Index first = 0; first < length_; first += tile_rows) {
        const Index n = std::min(tile_rows, length_ - first), seen = first + n, row = first * d;
        for (int pass = 0; pass < 2; ++pass) {  // the scores are computed forward, and once more backward
          gemm({false, true, n, seen, d, q + row, d, k, d, 0, p, seen}, choice);
        }
        gemm({false, false, n, d, seen, p, seen, v, d, 0, o + row, d}, choice);
        gemm({false, true, n, seen, d, d_out + row, d, v, d, 0, dp, seen}, choice);
        gemm({true, false, seen, d, n, p, seen, d_out + row, d, first == 0 ? Real{0} : Real{1}, dv, d},
             choice);
        gemm({false, false, n, d, seen, dp, seen, k, d, 0, dq + row, d}, choice);
        gemm({true, false, seen, d, n, dp, seen, q + row, d, first == 0 ? Real{0} : Real{1}, dk, d}, choice);
      }
    }
  });
}

void StepFloor::measure() {
  for (Product& product : products_) {
    for (std::size_t c = 0; c < choices().size(); ++c) {
      product.seconds[c].push_back(seconds_of([&] { gemm(product.gemm, choices()[c].choice); }));
    }
  }
  for (std::size_t c = 0; c < tile_choices().size(); ++c) {
    const double one = seconds_of([&] { run_attention(tile_choices()[c].choice.library); });
    attention_seconds_[c].push_back(one * static_cast<double>(layers_));
  }
}

std::size_t StepFloor::fastest(const Product& product) const {
  std::size_t best = 0;
  for (std::size_t c = 1; c < product.seconds.size(); ++c) {
    if (median(product.seconds[c]) < median(product.seconds[best])) best = c;
  }
  return best;
}

double StepFloor::seconds() const {
  double total = 0;
  for (const Line& line : lines()) total += line.seconds * static_cast<double>(line.count);
  return total;
}

std::vector<StepFloor::Line> StepFloor::lines() const {
  std::vector<Line> all;
  for (const Product& product : products_) {
    const std::size_t best = fastest(product);
    all.push_back({product.name, product.gemm.m, product.gemm.n, product.gemm.k, product.count,
                   median(product.seconds[best]), choices()[best].name});
  }
  std::size_t best = 0;
  for (std::size_t c = 1; c < attention_seconds_.size(); ++c) {
    if (median(attention_seconds_[c]) < median(attention_seconds_[best])) best = c;
  }
  all.push_back({"attention's tiles, a layer", tile_rows, length_, head_width_, layers_,
                 median(attention_seconds_[best]) / static_cast<double>(layers_), tile_choices()[best].name});
  return all;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

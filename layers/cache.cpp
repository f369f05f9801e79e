#include "layers/cache.h"

#include <algorithm>
#include <new>

#include "core/error.h"
#include "core/memory.h"

namespace tapeline::inline TAPELINE_PRECISION {

KeyValueCache::KeyValueCache(Index layers, Index batch, Index heads, Index head_width, KeyMask mask,
                             Index capacity_hint)
    : batch_(batch),
      heads_(heads),
      head_width_(head_width),
      mask_(mask),
      layers_(static_cast<std::size_t>(layers)) {
  require<ShapeError>(layers > 0 && batch > 0 && heads > 0 && head_width > 0,
                      "key/value cache: {} layers, batch {}, {} heads of width {}; each must be at least 1",
                      layers, batch, heads, head_width);
  reserve(capacity_hint);
}

void KeyValueCache::clear() { length_ = held_ = next_layer_ = coming_ = 0; }

void KeyValueCache::repeat(Index batch) {
  require<StateError>(batch_ == 1 && next_layer_ == 0,
                      "key/value cache: {} sequences, {} layers of a pass appended; one sequence between "
                      "passes is expected",
                      batch_, next_layer_);
  require<ShapeError>(batch >= 1, "key/value cache: {} sequences; at least 1 is expected", batch);
  const std::size_t numbers_each = static_cast<std::size_t>(batch * heads_ * capacity_ * head_width_);
  try {
    for (Layer& layer : layers_) {
      for (std::vector<Real>* numbers : {&layer.keys, &layer.values}) {
        const auto of_one = static_cast<std::ptrdiff_t>(numbers->size());
        numbers->resize(numbers_each);
        for (Index sequence = 1; sequence < batch; ++sequence) {
          std::copy_n(numbers->begin(), of_one, numbers->begin() + sequence * of_one);
        }
      }
    }
  } catch (const std::bad_alloc&) {
    fail_memory(fmt::format("a key/value cache of {} sequences", batch),
                2 * layers_.size() * numbers_each * sizeof(Real));
  }
  batch_ = batch;
}

std::size_t KeyValueCache::bytes() const {
  std::size_t numbers = 0;
  for (const Layer& layer : layers_) numbers += layer.keys.capacity() + layer.values.capacity();
  return numbers * sizeof(Real);
}

Index KeyValueCache::sinks_held() const { return std::min(mask_.sinks, held_); }

void KeyValueCache::make_room(Index coming_rows) {
  require<ShapeError>(coming_rows > 0, "key/value cache: {} rows to add; at least 1 is expected",
                      coming_rows);
  if (coming_ == coming_rows) return;
  coming_ = coming_rows;
  if (held_ + coming_rows <= capacity_) return;
  if (mask_.window > 0) drop_rows();
  if (held_ + coming_rows > capacity_) reserve(std::max(held_ + coming_rows, 2 * capacity_));
}

// The first query of the coming rows sees window - 1 rows before itself, and the sinks. Everything between is
// masked for good, so the rows that stay are moved together.
void KeyValueCache::drop_rows() {
  const Index sinks = sinks_held();
  const Index last = std::min(held_ - sinks, mask_.window - 1);
  const Index from = held_ - last;
  if (from == sinks) return;
  for (Layer& layer : layers_) {
    for (std::vector<Real>* numbers : {&layer.keys, &layer.values}) {
      for (Index head = 0; head < batch_ * heads_; ++head) {
        Real* row = numbers->data() + head * capacity_ * head_width_;
        std::copy_n(row + from * head_width_, last * head_width_, row + sinks * head_width_);
      }
    }
  }
  held_ = sinks + last;
}

void KeyValueCache::reserve(Index rows) {
  if (rows <= capacity_) return;
  const Index strides = batch_ * heads_;
  const auto numbers_each = static_cast<std::size_t>(strides * rows * head_width_);
  try {
    for (Layer& layer : layers_) {
      for (std::vector<Real>* numbers : {&layer.keys, &layer.values}) {
        std::vector<Real> larger(numbers_each);
        for (Index head = 0; head < strides; ++head) {
          std::copy_n(numbers->data() + head * capacity_ * head_width_, held_ * head_width_,
                      larger.data() + head * rows * head_width_);
        }
        *numbers = std::move(larger);
      }
    }
  } catch (const std::bad_alloc&) {
    fail_memory(fmt::format("a key/value cache of {} rows", rows),
                2 * layers_.size() * numbers_each * sizeof(Real));
  }
  capacity_ = rows;
}

CachedKeyValues KeyValueCache::append(Index layer, const Tensor& k, const Tensor& v) {
  const Index rows = k.shape.rank() == 4 ? k.shape[2] : 0;
  if (k.shape != v.shape || k.shape != Shape{batch_, heads_, rows, head_width_}) {
    fail<ShapeError>("key/value cache: k is {}, v is {}; both must be [{}, {}, rows, {}]", k.shape.text(),
                     v.shape.text(), batch_, heads_, head_width_);
  }
  require<StateError>(layer == next_layer_, "key/value cache: layer {} appends, it is layer {}'s turn", layer,
                      next_layer_);
  if (layer == 0) make_room(rows);
  require<ShapeError>(rows == coming_, "key/value cache: layer {} appends {} rows; {} were announced", layer,
                      rows, coming_);

  Layer& into = layers_[static_cast<std::size_t>(layer)];
  for (Index head = 0; head < batch_ * heads_; ++head) {
    const Index to = (head * capacity_ + held_) * head_width_;
    std::copy_n(k.data + head * rows * head_width_, rows * head_width_, into.keys.data() + to);
    std::copy_n(v.data + head * rows * head_width_, rows * head_width_, into.values.data() + to);
  }
  const CachedKeyValues seen{.keys = into.keys.data(),
                             .values = into.values.data(),
                             .batch = batch_,
                             .heads = heads_,
                             .rows = held_ + rows,
                             .width = head_width_,
                             .head_stride = capacity_ * head_width_};
  if (++next_layer_ == static_cast<Index>(layers_.size())) {
    next_layer_ = coming_ = 0;
    held_ += rows;
    length_ += rows;
  }
  return seen;
}

Positions KeyValueCache::key_rows(Index coming_rows) {
  require<StateError>(next_layer_ == 0,
                      "key/value cache: an earlier pass stopped at layer {}; clear() the cache", next_layer_);
  make_room(coming_rows);
  const Index rows = held_ + coming_rows;
  if (held_ == length_) return {.begin = 0, .count = rows};  // nothing was dropped
  const Index sinks = sinks_held();
  const Index dropped = length_ - held_;
  row_numbers_.resize(static_cast<std::size_t>(rows));
  for (Index row = 0; row < rows; ++row) {
    row_numbers_[static_cast<std::size_t>(row)] = row < sinks ? row : row + dropped;
  }
  Positions all{.begin = 0, .count = rows};
  all.axis[0] = row_numbers_;
  return all;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

#include "layers/cache.h"

#include <algorithm>
#include <utility>

#include "core/counted.h"
#include "core/error.h"
#include "core/parallel.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Heads that are worth a thread, `numbers` to copy each.
Index head_grain(Index numbers) { return (Index{1} << 14) / std::max<Index>(numbers, 1) + 1; }

}  // namespace

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
  move_to(batch, capacity_);
}

void KeyValueCache::move_to(Index batch, Index capacity) {
  const Index held_numbers = held_ * head_width_;
  const std::string purpose = fmt::format("a layer's keys or values, {} by {},", counted(batch, "sequence"),
                                          counted(capacity, "row"));
  for (Layer& layer : layers_) {
    for (Storage* const numbers : {&layer.keys, &layer.values}) {
      Storage larger = Storage::unwritten({batch, heads_, capacity, head_width_}, purpose);
      parallel_for(batch * heads_, head_grain(held_numbers), [&](Index begin, Index end) {
        for (Index head = begin; head < end; ++head) {
          const Index source = head / heads_ < batch_ ? head : head % heads_;
          std::copy_n(numbers->data() + source * capacity_ * head_width_, held_numbers,
                      larger.data() + head * capacity * head_width_);
        }
      });
      *numbers = std::move(larger);
    }
  }
  batch_ = batch;
  capacity_ = capacity;
}

std::size_t KeyValueCache::bytes() const {
  std::size_t numbers = 0;
  for (const Layer& layer : layers_)
    numbers += static_cast<std::size_t>(layer.keys.shape().size() + layer.values.shape().size());
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
    for (const Storage* numbers : {&layer.keys, &layer.values}) {
      for (Index head = 0; head < batch_ * heads_; ++head) {
        Real* row = numbers->data() + head * capacity_ * head_width_;
        std::copy_n(row + from * head_width_, last * head_width_, row + sinks * head_width_);
      }
    }
  }
  held_ = sinks + last;
}

void KeyValueCache::reserve(Index rows) {
  if (rows > capacity_) move_to(batch_, rows);
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
  const Index numbers = rows * head_width_;
  parallel_for(batch_ * heads_, head_grain(2 * numbers), [&](Index begin, Index end) {
    for (Index head = begin; head < end; ++head) {
      const Index to = (head * capacity_ + held_) * head_width_;
      std::copy_n(k.data + head * numbers, numbers, into.keys.data() + to);
      std::copy_n(v.data + head * numbers, numbers, into.values.data() + to);
    }
  });
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

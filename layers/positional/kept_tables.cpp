#include "layers/positional/kept_tables.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace tapeline::inline TAPELINE_PRECISION {

bool MadeFrom::same(WeightsOfTable weights) const {
  std::size_t place = 0;
  for (const Parameter* weight : weights) {
    if (weight == nullptr) continue;
    const Tensor value = weight->value();
    const auto count = static_cast<std::size_t>(value.size());
    if (numbers_.size() < place + count) return false;
    if (!std::equal(value.data, value.data + count, numbers_.begin() + static_cast<Index>(place))) {
      return false;
    }
    place += count;
  }
  return true;
}

void MadeFrom::keep(WeightsOfTable weights) {
  numbers_.clear();
  for (const Parameter* weight : weights) {
    if (weight == nullptr) continue;
    const Tensor value = weight->value();
    numbers_.insert(numbers_.end(), value.data, value.data + value.size());
  }
}

// What a running pass reads is never written again under the same weights, and memory is given back by the
// destructor only: the outgrown tables together are no larger than the last.
void GrowingTable::prepare(Index rows, Index wanted, WeightsOfTable weights) {
  if (!made_from_.same(weights)) {
    filled_ = 0;
    made_from_.keep(weights);
  }
  const Index room = table_.data() == nullptr ? 0 : table_.shape()[1];
  if (wanted <= room) return;
  const auto doubled = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
  Storage larger({rows, doubled}, "a table by distance");
  for (Index row = 0; row < rows; ++row) {
    std::copy_n(table_.data() + row * room, filled_, larger.data() + row * doubled);
  }
  if (room > 0) outgrown_.push_back(std::move(table_));
  table_ = std::move(larger);
}

// Tables for other distances stay, since another pass may read them; those of other weights nobody reads.
Storage& KeptTables::place_of(const Parameter* owner, const Distances& distances,
                              WeightsOfTable weights) const {
  const auto known = std::ranges::find(kept_, owner, &Kept::owner);
  Kept& kept = known != kept_.end() ? *known : kept_.emplace_back(Kept{owner, {}, {}});
  if (!kept.made_from.same(weights)) {
    kept.tables.clear();
    kept.made_from.keep(weights);
  }
  const auto made = std::ranges::find(kept.tables, distances, &Table::distances);
  return made != kept.tables.end() ? made->numbers : kept.tables.emplace_back(Table{distances, {}}).numbers;
}

Storage KeptTables::copy_of(const Tensor& table) {
  Storage copy(table.shape, "a table by distance");
  std::copy_n(table.data, table.size(), copy.data());
  return copy;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

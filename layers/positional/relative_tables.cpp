#include "layers/positional/relative_tables.h"

#include <algorithm>
#include <bit>

#include "core/error.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

Index lowest_of(const Positions& rows) {
  return rows.axis[0].empty() ? rows.begin : std::ranges::min(rows.axis[0]);
}
Index highest_of(const Positions& rows) {
  return rows.axis[0].empty() ? rows.begin + rows.count - 1 : std::ranges::max(rows.axis[0]);
}

}  // namespace

DistanceSpan distance_span(const Pass& pass, const PassPositions& all, bool causal) {
  Index back = std::max<Index>(highest_of(all.query) - lowest_of(all.key), 0);
  Index ahead = causal ? 0 : std::max<Index>(highest_of(all.key) - lowest_of(all.query), 0);
  if (!pass.tape.recording()) {
    const auto rounded = [](Index distance) {
      return static_cast<Index>(std::bit_ceil(static_cast<std::size_t>(distance) + 1)) - 1;
    };
    back = rounded(back), ahead = rounded(ahead);
  }
  return {-ahead, back};
}

const Tensor* KeptTables::find(Index slot, const DistanceSpan& span,
                               std::initializer_list<const Parameter*> weights) const {
  for (const Kept& kept : kept_) {
    if (kept.slot != slot || kept.span.first != span.first || kept.span.last != span.last) continue;
    auto number = kept.weights.begin();
    bool same = true;
    for (const Parameter* weight : weights) {
      const Tensor now = weight->value();
      same = same && std::equal(now.data, now.data + now.size(), number);
      number += now.size();
    }
    if (same) return &kept.view;
  }
  return nullptr;
}

Tensor KeptTables::keep(Index slot, const DistanceSpan& span, std::initializer_list<const Parameter*> weights,
                        const Tensor& table) const {
  const auto place = std::ranges::find(kept_, slot, &Kept::slot);
  Kept& kept = place == kept_.end() ? kept_.emplace_back() : *place;
  kept.slot = slot;
  kept.span = span;
  kept.weights.clear();
  for (const Parameter* weight : weights) {
    const Tensor now = weight->value();
    kept.weights.insert(kept.weights.end(), now.data, now.data + now.size());
  }
  kept.table = Storage(table.shape, "a table by distance");
  std::copy_n(table.data, table.size(), kept.table.data());
  kept.view = kept.table.tensor();
  return kept.view;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

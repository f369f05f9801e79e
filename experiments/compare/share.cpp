#include "experiments/compare/share.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "core/error.h"
#include "core/excerpt.h"

namespace tapeline {
namespace {

/// A whole number of digits alone; 0 for anything else.
Index counted(std::string_view digits) {
  Index number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool right = error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  return right && digits.front() != '-' ? number : 0;
}

/// Which piece each cell belongs to, and what each piece costs.
struct Pieces {
  std::vector<std::size_t> of_cell;
  std::vector<double> costs;
};

/// Cells whose key is the same form one piece, in the order of their first cells.
template <class KeyOf>
Pieces pieces_by(const std::vector<Cell>& cells, const std::vector<double>& costs, KeyOf key_of) {
  Pieces pieces;
  std::vector<decltype(key_of(cells.front()))> keys;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto key = key_of(cells[i]);
    const auto known = std::ranges::find(keys, key);
    pieces.of_cell.push_back(static_cast<std::size_t>(known - keys.begin()));
    if (known == keys.end()) {
      keys.push_back(key);
      pieces.costs.push_back(0);
    }
    pieces.costs[pieces.of_cell.back()] += costs[i];
  }
  return pieces;
}

struct Deal {
  std::vector<std::size_t> share_of;  // each piece's, counted from 0
  double largest = 0;                 // what the most loaded share costs
};

/// The costliest piece first, each to the share that has least so far; of equals to the first.
Deal deal_out(const Pieces& pieces, Index shares) {
  std::vector<std::size_t> order(pieces.costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return pieces.costs[a] > pieces.costs[b]; });
  std::vector<double> loads(static_cast<std::size_t>(shares), 0);
  Deal deal{std::vector<std::size_t>(pieces.costs.size()), 0};
  for (const std::size_t piece : order) {
    const auto least = std::ranges::min_element(loads);
    deal.share_of[piece] = static_cast<std::size_t>(least - loads.begin());
    *least += pieces.costs[piece];
  }
  deal.largest = std::ranges::max(loads);
  return deal;
}

void require_enough(const Pieces& pieces, const Share& share, const char* what) {
  require<ConfigError>(share.of <= static_cast<Index>(pieces.costs.size()),
                       "--cells {}: there are {} {} to deal out; at most as many shares", share.text(),
                       pieces.costs.size(), what);
}

// By how much a share may cost more so that seeds stay whole.
constexpr double whole_seeds_allowance = 1.02;

}  // namespace

std::vector<Cell> cells_of_share(const std::vector<Cell>& cells, const std::vector<double>& costs,
                                 const Share& share) {
  if (share.whole()) return cells;
  Pieces pieces;
  if (std::ranges::any_of(cells, [](const Cell& cell) { return cell.part == CellPart::sweep_point; })) {
    pieces = pieces_by(cells, costs, [](const Cell& cell) { return cell.variant; });
    require_enough(pieces, share, "variants, each with its sweep and seeds,");
  } else {
    Index next = 0;
    pieces = pieces_by(cells, costs, [&next](const Cell&) { return next++; });
    require_enough(pieces, share, "cells");
    const Pieces seeds = pieces_by(cells, costs, [](const Cell& cell) { return cell.seed; });
    if (deal_out(seeds, share.of).largest <= whole_seeds_allowance * deal_out(pieces, share.of).largest)
      pieces = seeds;
  }
  const Deal deal = deal_out(pieces, share.of);
  std::vector<Cell> own;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (static_cast<Index>(deal.share_of[pieces.of_cell[i]]) + 1 == share.number) own.push_back(cells[i]);
  }
  return own;
}

std::string Share::text() const { return fmt::format("{}/{}", number, of); }

Share parse_share(std::string_view text, std::string_view flag) {
  const std::size_t slash = text.find('/');
  Share share{0, 0};
  if (slash != std::string_view::npos)
    share = {counted(text.substr(0, slash)), counted(text.substr(slash + 1))};
  require<ConfigError>(share.number >= 1 && share.number <= share.of,
                       "{} \"{}\": give which share this is, counted from 1, and how many there are: 2/3",
                       flag, excerpt(text));
  return share;
}

}  // namespace tapeline

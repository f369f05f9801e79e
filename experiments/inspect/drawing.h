#pragma once

#include <string>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// Counts as one row of blocks, the highest for the largest: "▁▂▄█▄▂▁"; a blank for 0, so that any count is
/// told from none. `columns` below the number of counts: neighbours are added up.
std::string sparkline(const std::vector<Index>& counts, std::size_t columns);

/// A curve as `rows` lines of blocks, with the largest and the smallest value at the left. Values beyond the
/// number of columns are averaged by neighbours; those that are no finite numbers leave a gap. Empty without
/// two finite values. Lines end with "\n" and are at most `width` wide.
std::string curve(const std::vector<double>& values, std::size_t width, std::size_t rows);

/// "12.3 MiB", "512 bytes".
std::string size_text(Index bytes);
/// Four significant digits; "–" for NaN.
std::string short_value(double value);

}  // namespace tapeline

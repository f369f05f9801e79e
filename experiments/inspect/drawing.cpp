#include "experiments/inspect/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/counted.h"
#include "experiments/table.h"

namespace tapeline {
namespace {

/// From nothing to a full block, in eighths.
constexpr std::array<const char*, 9> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/// Means of as many neighbouring values as make one column; NaN where none is finite.
std::vector<double> columns_of(const std::vector<double>& values, std::size_t columns) {
  std::vector<double> means;
  const std::size_t count = std::min(columns, values.size());
  for (std::size_t column = 0; column < count; ++column) {
    double total = 0;
    int finite = 0;
    for (std::size_t i = column * values.size() / count; i < (column + 1) * values.size() / count; ++i) {
      if (!std::isfinite(values[i])) continue;
      total += values[i];
      ++finite;
    }
    means.push_back(finite > 0 ? total / finite : std::numeric_limits<double>::quiet_NaN());
  }
  return means;
}

}  // namespace

std::string sparkline(const std::vector<Index>& counts, std::size_t columns) {
  const std::size_t width = std::min(columns, counts.size());
  std::vector<Index> sums(width, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) sums[i * width / counts.size()] += counts[i];
  const Index largest = sums.empty() ? 0 : std::ranges::max(sums);
  std::string text;
  for (const Index sum : sums) {
    const double share = largest == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(largest);
    text += blocks[sum == 0 ? 0 : std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(8 * share)))];
  }
  return text;
}

std::string curve(const std::vector<double>& values, std::size_t width, std::size_t rows) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  int finite = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value), high = std::max(high, value);
    ++finite;
  }
  if (finite < 2 || rows == 0) return {};
  const std::string top = short_value(high), bottom = short_value(low);
  const std::size_t margin = std::max(display_width(top), display_width(bottom));
  const std::vector<double> means = columns_of(values, width > margin + 12 ? width - margin - 2 : 10);
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line = fmt::format("{:>{}} │", row == 0 ? top : row + 1 == rows ? bottom : "", margin);
    for (const double mean : means) {
      // The lowest value is an eighth high: nothing is left for gaps.
      const double height = std::isnan(mean) ? 0
                                             : 1 + (high > low ? (mean - low) / (high - low) : 0) *
                                                       (8 * static_cast<double>(rows) - 1);
      const double here = height - 8 * static_cast<double>(rows - 1 - row);
      line += blocks[static_cast<std::size_t>(std::clamp<long>(std::lround(here), 0, 8))];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string size_text(Index bytes) {
  if (bytes < 1024) return counted(bytes, "byte");
  double size = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (size < 1000) break;  // four digits would say no more
    size /= 1024;
    unit = next;
  }
  return fmt::format("{:.3g} {}", size, unit);
}

std::string short_value(double value) {
  if (std::isnan(value)) return "–";
  return fmt::format("{:.4g}", value);
}

}  // namespace tapeline

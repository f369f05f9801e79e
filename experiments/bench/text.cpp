#include "experiments/bench/text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/counted.h"

namespace tapeline {

nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

std::string milliseconds_text(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }

std::string milliseconds_text(const std::optional<double>& seconds) {
  return seconds ? milliseconds_text(*seconds) : std::string();
}

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : std::string();
}

std::string threads_text(int threads) { return counted(threads, "thread"); }

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

Table floor_table(const std::vector<Floor::Line>& lines) {
  Table table;
  table.column("product", Table::Align::left).column("m").column("n").column("k").column("times");
  table.column("ms each").column("GFLOP/s").column("fastest", Table::Align::left);
  for (const Floor::Line& line : lines) {
    table.row({line.name, fmt::format("{}", line.m), fmt::format("{}", line.n), fmt::format("{}", line.k),
               fmt::format("{}", line.count), milliseconds_text(line.seconds),
               fmt::format("{:.1f}", line.flops / line.seconds / 1e9), line.choice});
  }
  return table;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

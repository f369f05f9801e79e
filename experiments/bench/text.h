#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/bench/floor.h"
#include "experiments/table.h"

/// What the texts of all benchmarks have in common.
namespace tapeline {

/// The number, or null.
nlohmann::ordered_json number_or_null(const std::optional<double>& value);

/// "12.345": seconds in milliseconds.
std::string milliseconds_text(double seconds);
/// The same; empty where it was not measured.
std::string milliseconds_text(const std::optional<double>& seconds);
/// "1.23"; empty where it was not measured.
std::string ratio_text(const std::optional<double>& ratio);
/// "2 threads".
std::string threads_text(int threads);

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

/// The products of a floor, and which library was the fastest of each.
Table floor_table(const std::vector<Floor::Line>& lines);

}  // namespace tapeline::inline TAPELINE_PRECISION

#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <utility>
#include <variant>

#include "core/index.h"

namespace tapeline {

/// A name and what was measured.
using Metric = std::pair<std::string_view, std::variant<bool, Index, double>>;

/// The run's metrics, one JSON object a line, flushed line by line. Every line has a "step".
class MetricsFile {
 public:
  /// Opens for appending, after cutting back what an interrupted run wrote past step `keep_up_to` (0: starts
  /// empty). Throws FileError.
  MetricsFile(std::filesystem::path path, Index keep_up_to);
  /// Throws FileError when the line could not be written. NaN and infinities are written as strings.
  void write(std::initializer_list<Metric> line);

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

/// Calls visit(line, object) for the lines of a metrics file, in order, until it returns false or a line was
/// cut short by a kill. No file: no line.
void visit_metrics(const std::filesystem::path& path,
                   const std::function<bool(const std::string& line, const nlohmann::json& object)>& visit);

/// A number as JSON; what JSON has no number for as "nan", "inf", "-inf".
nlohmann::ordered_json json_number(double value);

}  // namespace tapeline

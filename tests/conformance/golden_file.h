#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/index.h"

/// Files of reference values: one JSON object each,
///   {"cases": {NAME: {"params": {...}, "arrays": {ARRAY: {"shape": [...], "data": [flat, row-major]}}}}}.
namespace tapeline::conformance {

struct GoldenArray {
  std::vector<Index> shape;
  std::vector<double> numbers;

  Index size() const { return static_cast<Index>(numbers.size()); }
  /// Every number as a whole one. Throws DataError naming `what` where one is none.
  std::vector<Index> whole(std::string_view what) const;
};

struct GoldenCase {
  std::string name;
  nlohmann::json params;
  std::vector<std::pair<std::string, GoldenArray>> arrays;

  /// nullptr when there is none of that name.
  const GoldenArray* find(std::string_view array) const;
  bool has(std::string_view array) const { return find(array) != nullptr; }
  /// Throws DataError when there is none.
  const GoldenArray& array(std::string_view name) const;

  bool knows(std::string_view param) const;
  /// A parameter of the case; `otherwise` where it is absent and that is given. Throws DataError for one that
  /// is absent or of another type.
  double number(std::string_view param, std::optional<double> otherwise = std::nullopt) const;
  Index integer(std::string_view param, std::optional<Index> otherwise = std::nullopt) const;
  bool flag(std::string_view param, std::optional<bool> otherwise = std::nullopt) const;
  std::string text(std::string_view param, std::optional<std::string> otherwise = std::nullopt) const;
};

struct GoldenFile {
  std::filesystem::path path;
  std::vector<GoldenCase> cases;  ///< in the order of the file

  /// nullptr when there is none of that name.
  const GoldenCase* find(std::string_view name) const;
};

/// Throws FileError for a file that cannot be read, DataError for one that does not hold what it should: a
/// line that names the file, the case, what was found, what was expected.
GoldenFile read_golden_file(const std::filesystem::path& path);

}  // namespace tapeline::conformance

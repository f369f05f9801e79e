#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/positions.h"
#include "core/tensor.h"

/// Reference values made by an independent program in double precision, kept in tests/data/golden: cases by
/// name, each with parameters and arrays (shape, flat row-major numbers). The loss behind every gradient is
/// sum(out * dout). Weights there are [in, out].
namespace tapeline {

/// The cases of one file, read once.
inline const nlohmann::json& golden_cases(const std::string& file) {
  static std::map<std::string, nlohmann::json> files;
  nlohmann::json& kept = files[file];
  if (kept.is_null()) {
    std::ifstream stream(std::string(TAPELINE_TEST_DATA) + "/golden/" + file + ".json");
    REQUIRE_MESSAGE(stream.good(), "golden file ", file, " cannot be opened");
    kept = nlohmann::json::parse(stream);
  }
  return kept.at("cases");
}

inline const nlohmann::json& golden_case(const std::string& file, const std::string& name) {
  return golden_cases(file).at(name);
}

inline std::vector<double> golden_numbers(const nlohmann::json& from, const std::string& array) {
  return from.at("arrays").at(array).at("data").get<std::vector<double>>();
}

/// Rows of these position numbers, which must outlive them.
inline Positions rows_of(const std::vector<Index>& positions) {
  Positions rows{.begin = 0, .count = static_cast<Index>(positions.size())};
  rows.axis[0] = positions;
  return rows;
}

inline std::vector<Index> golden_indices(const nlohmann::json& from, const std::string& array) {
  return from.at("arrays").at(array).at("data").get<std::vector<Index>>();
}

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

enum class Golden { value, gradient };

/// An array under its own shape, rounded to Real; `shape` gives it another one of equal size.
inline Storage golden_storage(const nlohmann::json& from, const std::string& array, const Shape& shape) {
  const std::vector<double> numbers = golden_numbers(from, array);
  REQUIRE(static_cast<Index>(numbers.size()) == shape.size());
  Storage storage(shape);
  for (Index i = 0; i < shape.size(); ++i) {
    storage.data()[i] = static_cast<Real>(numbers[static_cast<std::size_t>(i)]);
  }
  return storage;
}

/// |found - expected| <= limit * max(1, |expected|), with the limits agreed for the golden files: 1e-11 in
/// double (1e-10 where a position exceeds 4,096); in single 2e-5 on values, 1e-4 on gradients.
inline void check_golden(const std::string& what, const Real* found, Index count,
                         const std::vector<double>& expected, Golden kind = Golden::value,
                         bool far_positions = false) {
  double limit = far_positions ? 1e-10 : 1e-11;
  if (sizeof(Real) == 4) limit = kind == Golden::value ? 2e-5 : 1e-4;
  REQUIRE_MESSAGE(static_cast<Index>(expected.size()) == count, what, ": ", expected.size(), " expected, ",
                  count, " found");
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference =
        std::abs(static_cast<double>(found[i]) - expected[i]) / std::max(1.0, std::abs(expected[i]));
    if (!(difference <= worst)) {
      worst = difference;
      at = i;
    }
  }
  CHECK_MESSAGE(worst <= limit, what, ": element ", at, " is ", found[at], ", expected ", expected[at]);
}

inline void check_golden(const std::string& what, const Tensor& found, const nlohmann::json& from,
                         const std::string& array, Golden kind = Golden::value, bool far_positions = false) {
  check_golden(what + " " + array, found.data, found.size(), golden_numbers(from, array), kind,
               far_positions);
}

}  // namespace tapeline::inline TAPELINE_PRECISION

#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "tests/conformance/work.h"

namespace tapeline::conformance {

/// A key of the configuration that a case sets.
struct Setting {
  std::string_view key;           ///< behind "positional."
  std::string_view param;         ///< of the case; empty: it is always `otherwise`
  nlohmann::json otherwise = {};  ///< where the case does not say; null: the key is left alone
};

/// A parameter of the library that an array of a case gives values.
struct Part {
  std::string_view array;  ///< empty: none, for an arrangement without one
  std::string_view parameter;
  Arrangement arrangement = Arrangement::same;
};

/// What a kind of case means in the words of the library. The first row that fits a case holds.
struct Meaning {
  std::string_view encoding;         ///< params.encoding of the case
  std::string_view scaling = {};     ///< params.kind; empty: any
  std::string_view with_array = {};  ///< an array that it has; empty: any
  std::string_view kind;             ///< positional.kind of the library
  std::vector<Setting> settings = {};
  std::vector<Part> parts = {};
  /// It refuses full attention, where without it no order could be told apart; a case asks for the attention
  /// alone, so it is made as for a causal model.
  bool refuses_full_attention = false;
};

/// The table.
const std::vector<Meaning>& meanings();
/// The row of a case; nullptr where there is none.
const Meaning* meaning_of(const GoldenCase& of);

}  // namespace tapeline::conformance

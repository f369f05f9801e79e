#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "layers/positional/kinds_of_build.h"
#include "tests/support/skipped.h"

/// Tests in a build that leaves encodings out (TAPELINE_POSITIONAL).
namespace tapeline::test {

inline bool is_built(std::string_view kind) {
  const std::span<const std::string_view> kinds = built_kinds();
  return std::ranges::find(kinds, kind) != kinds.end();
}

/// The kind for a test that works with any: rope where there is one.
inline std::string any_kind() { return std::string(default_kind()); }

/// Those of the kinds that are built.
inline std::vector<std::string> built_of(const std::vector<std::string>& kinds) {
  std::vector<std::string> built;
  std::ranges::copy_if(kinds, std::back_inserter(built),
                       [](const std::string& kind) { return is_built(kind); });
  return built;
}

/// A decorator: the case is left out when there is a reason, and the program tells it at its end.
struct LeftOut {
  std::string reason;
  void fill(doctest::detail::TestCase& test) const { skip(test, reason); }
};

/// TEST_CASE("…" * needs({"rope"})): left out in a build without one of these.
inline LeftOut needs(const std::vector<std::string>& kinds) {
  const auto missing = std::ranges::find_if_not(kinds, is_built);
  return {missing == kinds.end() ? "" : "without " + *missing};
}

/// The same for a test of a build that leaves some out.
inline LeftOut needs_fixed_build() {
  return {left_out_kinds().empty() ? "with all encodings, only to one of a few" : ""};
}

}  // namespace tapeline::test

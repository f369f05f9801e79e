#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>

/// Test cases that do not apply to a build, counted by what the build is: the test program tells them at its
/// end.
namespace tapeline::test {

inline std::map<std::string, int>& skipped_cases() {
  static std::map<std::string, int> cases;
  return cases;
}

/// For decorators: leaves the case out when there is a reason ("without rope").
inline void skip(doctest::detail::TestCase& test, const std::string& reason) {
  if (reason.empty()) return;
  test.m_skip = true;
  ++skipped_cases()[reason];
}

}  // namespace tapeline::test

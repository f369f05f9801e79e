#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/fresh_memory.h"
#include "tests/support/skipped.h"

int main(int count, char** arguments) {
  // An op that reads memory which it never wrote gets NaN, in every build.
  tapeline::fill_fresh_memory(true);
  doctest::Context context(count, arguments);
  const int result = context.run();
  if (context.shouldExit()) return result;
  for (const auto& [reason, cases] : tapeline::test::skipped_cases()) {
    fmt::print("not run: {} test cases do not apply to a build {}\n", cases, reason);
  }
  return result;
}

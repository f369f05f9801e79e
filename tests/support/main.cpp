#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "core/fresh_memory.h"

int main(int count, char** arguments) {
  // An op that reads memory which it never wrote gets NaN, in every build.
  tapeline::fill_fresh_memory(true);
  return doctest::Context(count, arguments).run();
}

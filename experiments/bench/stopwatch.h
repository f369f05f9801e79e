#pragma once

#include <chrono>

namespace tapeline {

/// How long `work()` takes.
double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace tapeline

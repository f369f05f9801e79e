#include "experiments/doctor/processor_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "core/counted.h"
#include "core/excerpt.h"
#include "train/flops.h"

namespace tapeline {
namespace {

/// Calls `use` with the value of each line "key : value" of /proc/cpuinfo.
template <class Use>
void each_value(std::string_view key, const Use& use) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    use(line.substr(std::min(colon + 2, line.size())));
  }
}

/// The highest of all cores just now; 0 where the system does not tell.
double gigahertz() {
  double highest = 0;
  each_value("cpu MHz", [&](const std::string& value) {
    highest = std::max(highest, std::strtod(value.c_str(), nullptr) / 1000);
  });
  return highest;
}

/// Programs that wanted to run in the last minute, on average; negative where the system does not tell.
double load() {
  double average = -1;
  return ::getloadavg(&average, 1) == 1 ? average : -1;
}

}  // namespace

InstructionSet instruction_set() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) return {"AVX-512", 64, true};
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0)
    return {"AVX2 and FMA", 32, true};
  if (__builtin_cpu_supports("avx") != 0) return {"AVX", 16, true};
  return {__builtin_cpu_supports("sse4.1") != 0 ? "SSE4.1" : "SSE2", 8, true};
#elif defined(__aarch64__)
  return {"NEON", 16, false};
#else
  return {"no vectors known here", 0, false};
#endif
}

std::string processor_name() {
  std::string name;
  each_value("model name", [&](const std::string& value) { name = value; });
  return name.empty() ? "unknown processor" : excerpt(name);
}

Finding examine_speed(int threads) {
  constexpr Index rows = 2048;  // a step's tokens
  const double measured = measured_gemm_gflops(ModelConfig{}, rows);
  // Read now: a processor that was idle before showed its lowest frequency.
  const double frequency = gigahertz();
  const double cycle = instruction_set().operations_a_cycle;
  const double possible = threads * frequency * cycle;
  const std::string found =
      fmt::format("{:.0f} GFLOP/s measured with {}", measured, counted(threads, "thread"));
  if (possible <= 0) return all_well("speed", found + "; the frequency is not known here");
  const std::string against =
      fmt::format("{}, {:.0f} % of about {:.0f} (estimate: {} × {:.2f} GHz × {:.0f} operations a cycle)",
                  found, 100 * measured / possible, possible, threads, frequency, cycle);
  if (measured >= possible / 4) return all_well("speed", against);
  const double others = load();
  return {"speed", Finding::State::note,
          others > 0 ? fmt::format("{}; the load of the last minute is {:.1f}", against, others) : against,
          "look with top for what else runs, end it, and measure again: tapeline doctor"};
}

}  // namespace tapeline

#include "experiments/doctor/processor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "core/available_cores.h"
#include "core/counted.h"
#include "core/excerpt.h"
#include "core/kernels/vector_target.h"
#include "core/parallel.h"
#include "experiments/doctor/cgroup.h"
#include "experiments/doctor/processor_speed.h"

namespace tapeline {
namespace {

Finding instructions() {
  const InstructionSet set = instruction_set();
  const std::string found = fmt::format("{}: {}; our own vector code: Highway's {}", processor_name(),
                                        set.name, vector_target().target);
  if (set.operations_a_cycle >= 32 || !set.is_x86) return all_well("processor", found);
  return {"processor", Finding::State::note,
          found + ": without AVX2 and FMA training is several times slower",
          "in a virtual machine give the guest the processor as it is (qemu: -cpu host)"};
}

Finding cores() {
  const int machine = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  const int allowed = available_cores();
  const auto quota = cgroup_limits().cores;
  std::string found = counted(machine, "core");
  if (allowed < machine) found += fmt::format(", {} of them allowed (affinity)", allowed);
  if (quota) found += fmt::format(", computing time of {:.3g} (control group)", *quota);
  if (quota && *quota < 0.95)
    return {"cores", Finding::State::note, found + ": less than one core, so training is slow",
            "give the container more: docker run --cpus 2"};
  return all_well("cores", found);
}

/// The number that an environment variable begins with; 0 when it is not set, -1 when it is none.
long number_in(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return 0;
  std::string_view text(value);
  while (text.starts_with(' ')) text.remove_prefix(1);
  long number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool ends = rest == text.data() + text.size() || *rest == ',' || *rest == ' ';
  return error == std::errc() && ends && number > 0 ? number : -1;
}

Finding thread_use() {
  const int limit = usable_cores(), used = thread_count();
  const bool granted_fewer = number_in("OMP_THREAD_LIMIT") == used && used < limit;
  const char* const variable = granted_fewer ? "OMP_THREAD_LIMIT" : "OMP_NUM_THREADS";
  const long wanted = number_in(variable);
  const std::string environment =
      fmt::format("{} is \"{}\"", variable, wanted == 0 ? "" : excerpt(std::getenv(variable), 20));
  const std::string on = fmt::format("{} on {}", counted(used, "thread"), counted(limit, "core"));
  if (used > limit)
    return {"threads", Finding::State::problem,
            fmt::format("{}{}: more threads than cores make training several times slower", on,
                        wanted == 0 ? std::string() : fmt::format(", because {}", environment)),
            fmt::format("export OMP_NUM_THREADS={}", limit)};
  if (wanted < 0)
    return {"threads", Finding::State::note,
            fmt::format("{}; {}, which is no number and is ignored", on, environment),
            "unset OMP_NUM_THREADS"};
  if (used < limit)
    return {
        "threads", Finding::State::note,
        fmt::format("{}{}: the others stay idle", on,
                    wanted == 0 ? std::string() : fmt::format(", because {}", environment)),
        wanted == 0 ? fmt::format("export OMP_NUM_THREADS={}", limit) : fmt::format("unset {}", variable)};
  return all_well("threads", on);
}

}  // namespace

int usable_cores() {
  const auto quota = cgroup_limits().cores;
  const int allowed = available_cores();
  return quota ? std::clamp(static_cast<int>(std::ceil(std::min(*quota, 1e6))), 1, allowed) : allowed;
}

Findings examine_processor() {
  Findings found = {instructions(), cores(), thread_use()};
  // With as many as someone asked for, a measurement would say nothing, and thousands end the program.
  if (thread_count() > usable_cores()) set_thread_count(usable_cores());
  found.push_back(examine_speed(thread_count()));
  return found;
}

}  // namespace tapeline

#pragma once

#include <string>

#include "experiments/doctor/finding.h"

namespace tapeline {

/// The best vector instructions of this processor that matter here.
struct InstructionSet {
  std::string name;               ///< "AVX-512", "AVX2 and FMA", "AVX", "SSE4.1"
  double operations_a_cycle = 0;  ///< of one core in f32, two units a core; a multiply-add is two operations
  bool is_x86 = false;
};
InstructionSet instruction_set();

/// "AMD EPYC"; "unknown processor" where the system does not tell.
std::string processor_name();

/// The matrix product as the trainer uses it, measured for a few hundredths of a second with that many
/// threads, against cores x frequency x operations a cycle: an estimate, since frequencies change and not
/// every processor has two full units. Never a problem: it depends on what else runs.
Finding examine_speed(int threads);

}  // namespace tapeline

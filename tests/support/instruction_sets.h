#pragma once

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <string>

namespace tapeline {

/// The vector code runs for one instruction set alone for the length of a scope.
class InstructionSet {
 public:
  explicit InstructionSet(std::int64_t target) { choose(target); }
  ~InstructionSet() { choose(0); }
  InstructionSet(const InstructionSet&) = delete;
  InstructionSet& operator=(const InstructionSet&) = delete;

 private:
  static void choose(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().DeInit();  // the next call of a kernel chooses anew
  }
};

/// Calls body(target) once for every instruction set of this machine, without vectors included. A kernel that
/// was not compiled for one of them runs its scalar version there.
template <class Body>
void for_every_instruction_set(Body&& body) {
  int sets = 0;
  for (std::int64_t left = (hwy::SupportedTargets() & HWY_TARGETS) | HWY_SCALAR; left != 0;
       left &= left - 1) {
    const std::int64_t target = left & -left;
    const InstructionSet chosen(target);
    CAPTURE(std::string(hwy::TargetName(target)));
    body(target);
    ++sets;
  }
  CHECK(sets > 0);
}

}  // namespace tapeline

#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace tapeline::threads {

/// Makes this thread treat denormal numbers as zero, in operands and results: they carry no information for
/// training and cost a hundred times the cycles of other numbers. Threads started later by this one inherit
/// it.
inline void flush_denormals() {
#if defined(__SSE2__)
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
#elif defined(__aarch64__)
  std::uint64_t control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"(control | std::uint64_t{1} << 24));
#endif
}

}  // namespace tapeline::threads

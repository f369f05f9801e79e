#pragma once

/// Which instruction sets Highway compiles the kernels for. Stands before every include of Highway, so that
/// what is chosen for one kernel is chosen for all. Machines without SSE4 run the scalar version: one set
/// less to compile. Vectors of unknown length (SVE, RVV) cannot stand in arrays and structures; arm64 is
/// served by NEON.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#pragma once

#include "core/index.h"
#include "core/random.h"

namespace tapeline {

/// Dropout by counter: whether an element is dropped depends on (key, sequence, place), never on tiles,
/// threads or the cut into micro-batches.
struct Dropout {
  double rate = 0;           ///< 0 <= rate <= 1; survivors are divided by 1 - rate; rate 1 gives zeros
  RandomKey key{};           ///< of seed, step and layer
  Index first_sequence = 0;  ///< number of the batch's first sequence within the step
};

}  // namespace tapeline

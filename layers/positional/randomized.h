#pragma once

#include <span>

#include "core/arena.h"
#include "core/index.h"
#include "core/random.h"

namespace tapeline {

/// `count` distinct whole numbers of [0, maximum) in ascending order, each set of them as likely as any
/// other, by the key alone: the positions of randomized training (Ruoss et al. 2023, 2305.16843). They stand
/// in the arena. Throws ShapeError for more numbers than there are.
std::span<Index> draw_positions(Arena& arena, RandomKey key, Index count, Index maximum);

}  // namespace tapeline

#pragma once

namespace tapeline {

/// Which features form a pair of a rotation: neighbours (2p, 2p+1), or halves (p, p + width/2).
enum class Pairing { half, interleaved };

}  // namespace tapeline

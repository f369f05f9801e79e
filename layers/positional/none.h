#pragma once

#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// No positions (NoPE): a causal model can still tell them, since row i averages over i + 1 rows (Haviv et
/// al. 2022, 2203.16634; Kazemnejad et al. 2023, 2305.19466).
class NoPositions final : public PositionalEncoding {
 public:
  explicit NoPositions(Index head_width) : PositionalEncoding(head_width) {}
};

const EncodingKind& none_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION

#pragma once

#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// What a learned table does with a position past its last row.
enum class BeyondTable {
  refuse,      ///< an error
  clamp,       ///< the last row
  wrap,        ///< position modulo rows
  interpolate  ///< in a context of T > rows: the line between rows at position * rows / T
};

/// y_t = x_t + E[position_t], E [rows, C] trained, N(0, 0.02^2) at the start (Devlin et al. 2018, 1810.04805;
/// Gehring et al. 2017). Parameter: positional/learned/table, without weight decay.
class LearnedPositions final : public PositionalEncoding {
 public:
  struct Settings {
    Index rows = 0, width = 0, head_width = 0;
    BeyondTable beyond = BeyondTable::refuse;
  };
  /// Throws ConfigError for no rows, or more than 2^32.
  LearnedPositions(const Scope& scope, const Settings& settings);

  Var add_to_input(Pass& pass, Var x, const Positions& rows) const override;
  std::optional<Index> max_length() const override;

 private:
  Var interpolated(Pass& pass, Var table, const Positions& rows, Index context) const;

  Settings settings_;
  Parameter* table_;
};

const EncodingKind& learned_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION

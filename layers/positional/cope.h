#pragma once

#include "layers/positional/per_layer.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Contextual position encoding: positions are counted by content. With c = 1/sqrt(D),
///   g_it = sigmoid(c q_i . k_t) where i sees t, else 0,  p_ij = min(g_ij + ... + g_ii, rows - 1),
///   score(i, j) = c (q_i . k_j + q_i . e[p_ij]),
/// e read between its two nearest rows (Golovneva, Wang, Weston, Sukhbaatar 2024, 2405.18719). Positions are
/// counted from gates, not from row numbers. Past the trained length they clip at the last row.
/// Parameter: e [rows, D], zeros at the start, shared by the heads, without weight decay; one a layer,
/// blocks/<i>/attention/positional/table, or one for all layers, positional/cope/table.
class ContextualEncoding final : public PositionalEncoding {
 public:
  struct Settings {
    Index rows = 0;
    bool divide = true;   ///< false: q . e is added to c q . k as it is, as the paper's listing does
    bool shared = false;  ///< one table for all layers
  };
  /// Registers the table or tables; attention() throws ShapeError where they have fewer than two rows.
  ContextualEncoding(const EncodingContext& context, const Settings& settings);

  ScoreTerms score_terms(Pass& pass, const PassPositions& all, Index layer) const override;
  /// The factor would change the gates that count its positions.
  bool takes_query_scale() const override { return false; }

 private:
  bool divide_;
  PerLayer<Parameter*> tables_;
};

const EncodingKind& cope_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION

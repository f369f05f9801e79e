#pragma once

#include "layers/positional/kept_tables.h"
#include "layers/positional/per_layer.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Disentangled attention: with P [2k, C] one for all layers, K^r = P W_kr and Q^r = P W_qr cut into heads,
///   score(i, j) = (q_i . k_j + q_i . K^r[e(i - j)] + k_j . Q^r[e(t)]) / sqrt(3 D),  e(d) = clip(d + k, 0, 2k
///   - 1),
/// where t is i - j in the authors' code and in every checkpoint, j - i in the paper's equation (He, Liu,
/// Gao, Chen 2021, 2006.03654, eq. 4). With position buckets (v2, v3) 2k rows serve k buckets to each side, d
/// first being deberta_bucket(). Parameters: positional/deberta/table P, N(0, 0.02^2), without weight decay,
/// and with norm_table positional/deberta/table_norm/gain, /shift of a layer norm over its rows; one a layer
/// blocks/<i>/attention/positional/key_projection W_kr and query_projection W_qr, [H D, C]. Sharing the
/// projections of the content (share_att_key of the authors' code) is left out.
class DebertaPositions final : public PositionalEncoding {
 public:
  struct Settings {
    bool reversed_key_index = false;  ///< the paper's
    Index span = 0;                   ///< k
    Index max_position = 0;           ///< of the buckets; 0: no buckets
    bool norm_table = false;
  };
  /// Throws ConfigError for a span of 2^31 or more.
  DebertaPositions(const EncodingContext& context, const Settings& settings);

  ScoreTerms score_terms(Pass& pass, const PassPositions& all, Index layer) const override;

 private:
  struct Projections {
    Parameter *key, *query;
  };
  Var table(Pass& pass) const;                             // [2k, C]
  Var projected(Pass& pass, Parameter& projection) const;  // [2k, H D]

  Settings settings_;
  bool causal_;
  Parameter *table_, *gain_ = nullptr, *shift_ = nullptr;
  PerLayer<Projections> projections_;
  KeptTables tables_;
};

/// The bucket of a distance d: |d| <= buckets / 2 =: m keeps d; beyond, with M the maximal position,
/// sign(d) (m + ceil(ln(|d| / m) / ln((M - 1) / m) (m - 1))), |d| counting as M - 1 at most. buckets even and
/// at least 4, M - 1 > m.
Index deberta_bucket(Index distance, Index buckets, Index max_position);

const EncodingKind& deberta_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION

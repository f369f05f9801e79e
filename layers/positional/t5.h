#pragma once

#include <span>
#include <vector>

#include "layers/positional/distance_encoding.h"
#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Which bucket a distance falls into. On one side, of S buckets, with e = S / 2: a distance n < e has bucket
/// n; from e on bucket e + floor((S - e) ln(n / e) / ln(max_distance / e)), at most S - 1. With a causal mask
/// S = buckets and every distance below 0 counts as 0; without one S = buckets / 2, keys after the query
/// have bucket S + that of |d|. Where a bucket begins is found in whole numbers: a rounded logarithm can fall
/// on either side of a power.
class T5Buckets {
 public:
  /// `buckets` even and at least 4, `max_distance` above e.
  T5Buckets(Index buckets, Index max_distance, bool causal);

  /// That of one distance, position of the query - position of the key.
  Index operator()(Index distance) const;

  /// The distances from `begin` to the next run's fall into one bucket. In order; the first reaches down
  /// without end, the last up.
  struct Run {
    Index begin, bucket;
  };
  std::span<const Run> runs() const { return runs_; }

 private:
  std::vector<Run> runs_;
};

/// b_h(d) = table[h, bucket(d)], added to the scaled score as it is (Raffel et al. 2020, 1910.10683, who do
/// without the scale). Parameter: positional/t5/table [H, buckets], shared by all layers, N(0, 0.02^2) at the
/// start.
class T5Positions final : public DistanceEncoding {
 public:
  struct Settings {
    Index heads = 0, head_width = 0;
    bool causal = true;
    Index buckets = 32, max_distance = 128;
  };
  /// `scope`: "positional/t5". Buckets and distance as T5Buckets takes them.
  T5Positions(const Scope& scope, const Settings& settings);

 protected:
  Weights weights(Index set) const override;
  void fill(Index set, const DistanceRows& rows) const override;
  void add_gradients(const Tensor& d_table, Index first, Var table, Var none) const override;

 private:
  T5Buckets buckets_;
  Parameter* table_;
};

const EncodingKind& t5_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION

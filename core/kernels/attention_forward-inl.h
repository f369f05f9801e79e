// The forward pass over query tiles, and the probe. Included once for every instruction set.
#if defined(TAPELINE_ATTENTION_FORWARD) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_ATTENTION_FORWARD
#undef TAPELINE_ATTENTION_FORWARD
#else
#define TAPELINE_ATTENTION_FORWARD
#endif

#include "core/kernels/attention_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// Softmax and weighted sum of one query tile while its keys stream by: of each row a shift near the largest
/// score so far, a running sum of the exponentials of scores less the shift, and a running output; the last
/// two are rescaled when the shift grows.
class ForwardTile {
 public:
  ForwardTile(const AttentionProblem& problem, TileScores& scores, Carver& carver)
      : problem_(problem),
        scores_(scores),
        shift_(carver.take(attention_tile_rows)),
        total_(carver.take(attention_tile_rows)),
        rescale_(carver.take(attention_tile_rows)),
        sums_(carver.take(attention_tile_rows * padded_width(problem))) {}

  template <class Term>
  void run(Term& term, const AttentionResult& result) {
    std::fill_n(shift_, scores_.padded_rows(), -std::numeric_limits<Real>::infinity());
    std::fill_n(total_, scores_.padded_rows(), Real{0});
    bool first = true;
    for_key_tiles<Term::order>(problem_, scores_, [&] {
      scores_.score(term);
      const Real* const drop = scores_.dropout_factors();
      bool grown = false;
      for (Index row = 0; row < scores_.padded_rows(); row += lane_count()) {
        grown = (scores_.whole() ? absorb<true>(term, row, drop) : absorb<false>(term, row, drop)) || grown;
      }
      if (grown && !first) rescale_sums();
      scores_.add_over_keys(scores_.scores(), scores_.values_here(), sums_, padded_width(problem_), first);
      first = false;
    });
    finish(result, first);
  }

  /// After run(): a second pass over the keys, with the log-sum-exp known. Adds to the five sums of the head.
  template <class Term>
  void probe(Term& term, Index sink_keys, double* sums) {
    const Lanes d;
    const Index first_number = problem_.query_number(scores_.first_row());
    double entropies[attention_tile_rows] = {}, distances[attention_tile_rows] = {};
    for_key_tiles<Term::order>(problem_, scores_, [&] {
      scores_.score(term);
      for (Index row = 0; row < scores_.rows(); row += lane_count()) {
        for (Index j = scores_.first_key(row); j < scores_.end_key(row); ++j) {
          const auto logarithm = hn::Sub(scores_.finished<false>(term, j, row), hn::Load(d, total_ + row));
          HWY_ALIGN Real weights[64 / sizeof(Real)], logarithms[64 / sizeof(Real)];
          hn::Store(exponential(d, logarithm), d, weights);
          hn::Store(logarithm, d, logarithms);
          const Index key = problem_.key_number(scores_.first_key_row() + j);
          for (Index i = 0; i < std::min(lane_count(), scores_.rows() - row); ++i) {
            const auto weight = static_cast<double>(weights[i]);
            if (weight == 0) continue;  // 0 ln 0 = 0
            entropies[row + i] -= weight * static_cast<double>(logarithms[i]);
            if (key < sink_keys) sums[2] += weight;
            distances[row + i] += weight * static_cast<double>(first_number + row + i - key);
          }
        }
      }
    });
    for (Index i = 0; i < scores_.rows(); ++i) {
      const Index seen = problem_.keys_seen(scores_.first_row() + i);
      sums[0] += entropies[i];
      sums[3] += distances[i];
      if (seen <= 1) continue;
      sums[1] += entropies[i] / std::log(static_cast<double>(seen));
      sums[4] += distances[i] / static_cast<double>(problem_.mask.farthest(first_number + i));
    }
  }

 private:
  // A shift follows the largest score only where that is further above: exponentials reach exp(8), and most
  // tiles have nothing to rescale.
  static constexpr Real slack = 8;

  /// Turns the scores of one vector of rows into exponentials, in place; true when a shift has grown.
  template <bool whole, class Term>
  bool absorb(const Term& term, Index row, const Real* drop) {
    const Lanes d;
    const Index begin = scores_.first_key(row), end = scores_.end_key(row);
    Real* const scores = scores_.scores() + row;
    const auto old_shift = hn::Load(d, shift_ + row);
    auto highest = old_shift;
    for (Index j = begin; j < end; ++j) {
      const auto score = scores_.finished<whole>(term, j, row);
      if constexpr (Term::active || !whole) hn::Store(score, d, scores + j * attention_tile_rows);
      highest = hn::Max(highest, score);
    }
    const auto stays = hn::Le(highest, hn::Add(old_shift, hn::Set(d, slack)));
    const auto shift = hn::IfThenElse(stays, old_shift, highest);
    // A row that has seen no key yet: its scores are -infinity, and so must the differences be.
    const auto nothing = hn::Set(d, -std::numeric_limits<Real>::infinity());
    const auto taken_off = hn::IfThenZeroElse(hn::Eq(shift, nothing), shift);
    auto total = hn::Zero(d);
    for (Index j = 0; j < begin; ++j) hn::Store(hn::Zero(d), d, scores + j * attention_tile_rows);
    for (Index j = begin; j < end; ++j) {
      Real* const place = scores + j * attention_tile_rows;
      auto weight = softmax_exponential(d, hn::Sub(hn::Load(d, place), taken_off));
      total = hn::Add(total, weight);
      if (drop != nullptr) weight = hn::Mul(weight, hn::Load(d, drop + j * attention_tile_rows + row));
      hn::Store(weight, d, place);
    }
    for (Index j = end; j < scores_.keys(); ++j) hn::Store(hn::Zero(d), d, scores + j * attention_tile_rows);
    // 1 where a finite shift stays, 0 where nothing was seen before.
    const auto rescale = softmax_exponential(d, hn::Sub(old_shift, taken_off));
    hn::Store(hn::MulAdd(hn::Load(d, total_ + row), rescale, total), d, total_ + row);
    hn::Store(shift, d, shift_ + row);
    hn::Store(rescale, d, rescale_ + row);
    return !hn::AllTrue(d, stays);
  }

  void rescale_sums() {
    const Lanes d;
    const Index padded = padded_width(problem_);
    for (Index i = 0; i < scores_.rows(); ++i) {
      const auto factor = hn::Set(d, rescale_[i]);
      for (Index c = 0; c < problem_.width; c += lane_count()) {
        Real* const place = sums_ + i * padded + c;
        hn::Store(hn::Mul(factor, hn::Load(d, place)), d, place);
      }
    }
  }

  void finish(const AttentionResult& result, bool nothing_seen) {
    const Lanes d;
    const Index width = problem_.width, padded = padded_width(problem_);
    Real* const out = result.out + problem_.output.at(scores_.batch(), scores_.head(), scores_.first_row());
    if (nothing_seen) std::fill_n(sums_, scores_.rows() * padded, Real{0});
    for (Index i = 0; i < scores_.rows(); ++i) {
      // == and not > : a NaN has to come through.
      const Real inverse = total_[i] == 0 ? Real{0} : 1 / total_[i];
      Real* const sums = sums_ + i * padded;
      for (Index c = 0; c < width; c += lane_count()) {
        hn::Store(hn::Mul(hn::Set(d, inverse), hn::Load(d, sums + c)), d, sums + c);
      }
      std::copy_n(sums, width, out + i * problem_.output.row);
      // What the probe and the backward pass subtract from a score.
      total_[i] = total_[i] == 0 ? std::numeric_limits<Real>::infinity() : shift_[i] + std::log(total_[i]);
    }
    if (result.log_sum != nullptr) std::copy_n(total_, scores_.rows(), result.log_sum + scores_.row_index());
  }

  const AttentionProblem& problem_;
  TileScores& scores_;
  Real* shift_;    // [rows]
  Real* total_;    // [rows]; after finish() the log-sum-exp
  Real* rescale_;  // [rows]
  Real* sums_;     // [rows, D padded]
};

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

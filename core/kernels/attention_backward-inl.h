// The backward pass over query tiles. Included once for every instruction set.
#if defined(TAPELINE_ATTENTION_BACKWARD) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_ATTENTION_BACKWARD
#undef TAPELINE_ATTENTION_BACKWARD
#else
#define TAPELINE_ATTENTION_BACKWARD
#endif

#include "core/kernels/attention_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

/// Gradient of one query tile while its keys stream by a second time. With P = exp(S - log_sum),
///   dP = dO V^T,  delta = rowsum(dO * O),  dS = P * (dP - delta),
///   dQ = scale dS K,  dK = dS^T (scale Q),  dV = P^T dO,
/// where dropout multiplies dP and the P of dV by its factors.
class BackwardTile {
 public:
  BackwardTile(const AttentionProblem& problem, TileScores& scores, Carver& carver)
      : problem_(problem),
        scores_(scores),
        log_sum_(carver.take(attention_tile_rows)),
        delta_(carver.take(attention_tile_rows)),
        d_factors_(carver.take(attention_tile_rows)),
        d_out_columns_(carver.take(problem.width * attention_tile_rows)),
        d_out_padded_(carver.take(attention_tile_rows * padded_width(problem))),
        query_rows_(carver.take(attention_tile_rows * padded_width(problem))),
        d_scores_(carver.take(attention_tile_rows * attention_tile_keys)),
        d_query_(carver.take(attention_tile_rows * padded_width(problem))),
        d_keys_(carver.take(attention_tile_keys * padded_width(problem))) {}

  /// `sums`: of the head's Tk keys and values, added to.
  template <class Term>
  void run(Term& term, const AttentionGradients& gradients, const KeyGradients& sums) {
    start(gradients);
    bool first = !Term::adds_to_operands;
    const bool want_query = gradients.d_q != nullptr || gradients.d_query_scale != nullptr;
    TileGradients shared;
    if constexpr (Term::adds_to_operands) {
      std::fill_n(d_query_, scores_.rows() * padded_width(problem_), Real{0});
      std::fill_n(d_factors_, scores_.padded_rows(), Real{0});
      if (want_query) shared.query = d_query_, shared.query_stride = padded_width(problem_);
      if (gradients.d_query_scale != nullptr) shared.factor = d_factors_;
    }
    for_key_tiles<Term::gradient_order>(problem_, scores_, [&] {
      scores_.score(term);
      scores_.key_products(scores_.values_here(), d_out_columns_, d_scores_);
      const Real* const drop = scores_.dropout_factors();
      for (Index row = 0; row < scores_.padded_rows(); row += lane_count()) {
        scores_.whole() ? differentiate<true>(term, row, drop) : differentiate<false>(term, row, drop);
      }
      const Index key = scores_.first_key_row();
      if constexpr (Term::adds_to_operands) {
        if (sums.k != nullptr) shared.key = sums.k + key * sums.k_stride, shared.key_stride = sums.k_stride;
        term.gradient(scores_.tile(), d_scores_, shared);
      } else {
        term.gradient(scores_.tile(), d_scores_);
      }
      if (want_query) {
        scores_.add_over_keys(d_scores_, scores_.keys_here(), d_query_, padded_width(problem_), first);
      }
      first = false;
      if (sums.k != nullptr)
        add_over_rows(d_scores_, {query_rows_, padded_width(problem_)}, sums.k + key * sums.k_stride,
                      sums.k_stride);
      if (sums.v != nullptr)
        add_over_rows(scores_.scores(), d_out_rows_, sums.v + key * sums.v_stride, sums.v_stride);
    });
    if constexpr (requires { term.finish_gradient(shared); }) term.finish_gradient(shared);
    if (first) std::fill_n(d_query_, scores_.rows() * padded_width(problem_), Real{0});
    finish<Term>(gradients);
  }

 private:
  void start(const AttentionGradients& gradients) {
    const Index width = problem_.width, padded = padded_width(problem_), rows = scores_.rows();
    const Index place = problem_.output.at(scores_.batch(), scores_.head(), scores_.first_row());
    const Rows d_out{gradients.d_out + place, problem_.output.row};
    const Real* const out = gradients.out + place;
    // Padding rows have log_sum infinity: their probabilities are 0, whatever their scores.
    std::fill_n(log_sum_, scores_.padded_rows(), std::numeric_limits<Real>::infinity());
    std::copy_n(gradients.log_sum + scores_.row_index(), rows, log_sum_);
    std::fill_n(delta_, scores_.padded_rows(), Real{0});
    transpose(d_out.first, d_out.stride, rows, width, nullptr, d_out_columns_, attention_tile_rows,
              scores_.padded_rows());
    for (Index i = 0; i < rows; ++i) {
      delta_[i] = dot(d_out.first + i * d_out.stride, out + i * d_out.stride, width);
    }
    const Rows queries{scores_.query_rows(), problem_.query.row};
    const bool whole_vectors = width % lane_count() == 0;
    d_out_rows_ = whole_vectors ? d_out : padded_rows(d_out, nullptr, d_out_padded_);
    if (!whole_vectors) {
      padded_rows(queries, scores_.factors(), query_rows_);
      return;
    }
    const Lanes d;
    for (Index i = 0; i < rows; ++i) {
      const auto factor = hn::Set(d, scores_.factors()[i]);
      for (Index c = 0; c < width; c += lane_count()) {
        hn::Store(hn::Mul(factor, hn::LoadU(d, queries.first + i * queries.stride + c)), d,
                  query_rows_ + i * padded + c);
      }
    }
  }

  /// The tile's rows of D numbers, times `factors` where given, filled up with zeros to whole vectors.
  Rows padded_rows(const Rows& from, const Real* factors, Real* to) const {
    const Index width = problem_.width, padded = padded_width(problem_);
    for (Index i = 0; i < scores_.rows(); ++i) {
      const Real factor = factors == nullptr ? Real{1} : factors[i];
      for (Index c = 0; c < width; ++c) to[i * padded + c] = factor * from.first[i * from.stride + c];
      std::fill_n(to + i * padded + width, padded - width, Real{0});
    }
    return {to, padded};
  }

  /// Of one vector of rows: scores become the weights of the values, the products dO V^T become dS.
  template <bool whole, class Term>
  void differentiate(const Term& term, Index row, const Real* drop) {
    const Lanes d;
    const Index begin = scores_.first_key(row), end = scores_.end_key(row);
    Real* const weights = scores_.scores() + row;
    Real* const d_scores = d_scores_ + row;
    const auto log_sum = hn::Load(d, log_sum_ + row), delta = hn::Load(d, delta_ + row);
    const auto clear = [&](Index from, Index to) {
      for (Index j = from; j < to; ++j) {
        hn::Store(hn::Zero(d), d, weights + j * attention_tile_rows);
        hn::Store(hn::Zero(d), d, d_scores + j * attention_tile_rows);
      }
    };
    clear(0, begin);
    for (Index j = begin; j < end; ++j) {
      // At most 0 but for rounding: the score is the one that log_sum was made of.
      const auto weight = exponential(d, hn::Sub(scores_.finished<whole>(term, j, row), log_sum));
      auto d_weight = hn::Load(d, d_scores + j * attention_tile_rows);
      auto kept = weight;
      if (drop != nullptr) {
        const auto factor = hn::Load(d, drop + j * attention_tile_rows + row);
        d_weight = hn::Mul(d_weight, factor);
        kept = hn::Mul(weight, factor);
      }
      hn::Store(kept, d, weights + j * attention_tile_rows);
      auto d_score = hn::Mul(weight, hn::Sub(d_weight, delta));
      // The products skip bands that no row sees: what stands there was never written. A weight that is NaN
      // stays.
      if constexpr (!whole) d_score = hn::IfThenZeroElse(hn::Eq(weight, hn::Zero(d)), d_score);
      hn::Store(d_score, d, d_scores + j * attention_tile_rows);
    }
    clear(end, scores_.keys());
  }

  /// to[keys, D] += weights[keys, rows] B[rows, D].
  void add_over_rows(const Real* weights, const Rows& b, Real* to, Index to_stride) {
    const Index width = problem_.width, padded = padded_width(problem_);
    const Index vectors = (width + lane_count() - 1) / lane_count();
    scores_.for_key_bands([&](Index begin, Index end, Index first, Index last) {
      const Real* const a = weights + begin * attention_tile_rows + first;
      if (width % lane_count() == 0) {
        multiply<Layout::depth_adjacent, Into::add>(a, attention_tile_rows, end - begin, last - first,
                                                    b.first + first * b.stride, b.stride,
                                                    to + begin * to_stride, to_stride, vectors);
        return;
      }
      multiply<Layout::depth_adjacent, Into::overwrite>(a, attention_tile_rows, end - begin, last - first,
                                                        b.first + first * b.stride, b.stride, d_keys_, padded,
                                                        vectors);
      for (Index j = begin; j < end; ++j) {
        for (Index c = 0; c < width; ++c) to[j * to_stride + c] += d_keys_[(j - begin) * padded + c];
      }
    });
  }

  template <class Term>
  void finish(const AttentionGradients& gradients) {
    const Index width = problem_.width, padded = padded_width(problem_);
    for (Index i = 0; i < scores_.rows(); ++i) {
      const Real* const sums = d_query_ + i * padded;
      const Index row = scores_.row_index() + i;
      if (gradients.d_query_scale != nullptr) {
        gradients.d_query_scale[row] =
            problem_.scale * dot(sums, scores_.query_rows() + i * problem_.query.row, width);
        if constexpr (Term::adds_to_operands) {
          gradients.d_query_scale[row] += problem_.scale * d_factors_[i];
        }
      }
      if (gradients.d_q == nullptr) continue;
      Real* const d_q =
          gradients.d_q + problem_.query.at(scores_.batch(), scores_.head(), scores_.first_row() + i);
      const Real factor = scores_.factors()[i];
      if (gradients.add_q) {
        for (Index c = 0; c < width; ++c) d_q[c] += factor * sums[c];
      } else {
        for (Index c = 0; c < width; ++c) d_q[c] = factor * sums[c];
      }
    }
  }

  const AttentionProblem& problem_;
  TileScores& scores_;
  Real* log_sum_;        // [rows]
  Real* delta_;          // [rows]
  Real* d_factors_;      // [rows], of terms that add to it
  Real* d_out_columns_;  // [D, rows]
  Real* d_out_padded_;   // [rows, D padded]
  Rows d_out_rows_;
  Real* query_rows_;  // [rows, D padded], scaled
  Real* d_scores_;    // [keys, rows]
  Real* d_query_;     // [rows, D padded]
  Real* d_keys_;      // [keys, D padded], for widths that are no whole vectors
};

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

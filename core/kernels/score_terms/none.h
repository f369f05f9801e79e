// No score term: the scores stay as they are. Included once for every instruction set.
#if defined(TAPELINE_SCORE_TERM_NONE) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPELINE_SCORE_TERM_NONE
#undef TAPELINE_SCORE_TERM_NONE
#else
#define TAPELINE_SCORE_TERM_NONE
#endif

#include "core/kernels/attention_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

class NoTerm {
 public:
  static constexpr KeyOrder order = KeyOrder::left_to_right;
  static constexpr KeyOrder gradient_order = order;
  static constexpr bool adds_to_operands = false;
  static constexpr bool active = false;

  NoTerm(std::monostate, const AttentionProblem&, Index /*worker*/, Real* /*scratch*/) {}
  void prepare(const ScoreTile&) {}
  template <class V>
  V add(Index /*key*/, Index /*row*/, V score) const {
    return score;
  }
  void gradient(const ScoreTile&, const Real* /*d_scores*/) {}
};

inline NoTerm make_term(std::monostate view, const AttentionProblem& problem, Index worker, Real* scratch) {
  return {view, problem, worker, scratch};
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#endif

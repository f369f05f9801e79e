#include "train/in_context_probe.h"

namespace tapeline {

ProbeResult in_context_probe(const EvaluationResult& nonoverlapping) {
  ProbeResult result{.probe = "in_context",
                     .length = nonoverlapping.cell.length,
                     .status = nonoverlapping.status,
                     .reason = nonoverlapping.reason,
                     .figures = {}};
  const PositionBin &early = nonoverlapping.early, &late = nonoverlapping.late;
  if (result.status != "ok" || early.tokens == 0 || late.tokens == 0) return result;
  const auto add = [&](const char* quantity, Index tokens, double value) {
    result.figures.push_back(
        {.quantity = quantity, .span = 0, .layer = -1, .head = -1, .tokens = tokens, .value = value});
  };
  add("early_nll", early.tokens, early.nll);
  add("late_nll", late.tokens, late.nll);
  add("score", early.tokens + late.tokens, late.nll - early.nll);
  return result;
}

}  // namespace tapeline

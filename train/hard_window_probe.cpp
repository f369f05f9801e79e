#include "train/hard_window_probe.h"

#include <cmath>

namespace tapeline::inline TAPELINE_PRECISION {

ProbeResult hard_window_probe(const ProbeSubject& subject, Index length, const EvaluationOptions& options) {
  EvaluationOptions limited = options;
  limited.key_limit = subject.model.plan().train_length;
  const EvaluationResult found = evaluate_cell(subject.model, subject.text, subject.tokenizer, subject.plan,
                                               {Protocol::nonoverlapping, length, length, false}, limited);
  ProbeResult result{.probe = "hard_window",
                     .length = length,
                     .status = found.status,
                     .reason = found.reason,
                     .figures = {}};
  if (found.status != "ok") return result;
  const auto add = [&](const char* quantity, Index tokens, double value) {
    result.figures.push_back(
        {.quantity = quantity, .span = 0, .layer = -1, .head = -1, .tokens = tokens, .value = value});
  };
  add("nll", found.scored_tokens, found.nll);
  if (found.tail_tokens > 0) add("tail_nll", found.tail_tokens, found.tail_nll);
  add("bits_per_byte", found.scored_tokens, found.bits_per_byte);
  return result;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

#include "train/residual.h"

#include "core/error.h"

namespace tapeline {

namespace {

/// The evaluations that the residual is made of; nullptr for one that has not been done.
struct Terms {
  const EvaluationResult* full_history = nullptr;  // sliding(L), stride 1
  const EvaluationResult* at_trained = nullptr;    // nonoverlapping(L)
  const EvaluationResult* at_length = nullptr;     // nonoverlapping(T)
};

const EvaluationResult* on_subset(std::span<const EvaluationResult> results, Protocol protocol, Index length,
                                  Index stride) {
  for (const EvaluationResult& result : results) {
    const EvaluationCell& cell = result.cell;
    if (cell.subset && cell.protocol == protocol && cell.length == length && cell.stride == stride)
      return &result;
  }
  return nullptr;
}

Terms terms_of(std::span<const EvaluationResult> results, Index trained_length, Index length) {
  return {on_subset(results, Protocol::sliding, trained_length, 1),
          on_subset(results, Protocol::nonoverlapping, trained_length, trained_length),
          on_subset(results, Protocol::nonoverlapping, length, length)};
}

/// Windows of that length side by side over the segments, the last one of a segment as short as it comes.
double windows_over(const std::vector<SegmentLoss>& segments, Index length) {
  Index windows = 0;
  for (const SegmentLoss& segment : segments) windows += (segment.tokens + length - 1) / length;
  return static_cast<double>(windows);
}

}  // namespace

double share_of_gap(const std::vector<SegmentLoss>& segments, Index trained_length, Index length) {
  const double windows = windows_over(segments, trained_length);
  if (windows == 0) return static_cast<double>(trained_length) / static_cast<double>(length);
  return windows_over(segments, length) / windows;
}

std::optional<CurseOnly> curse_only(std::span<const EvaluationResult> results, Index trained_length,
                                    Index length) {
  const Terms terms = terms_of(results, trained_length, length);
  for (const EvaluationResult* term : {terms.full_history, terms.at_trained, terms.at_length}) {
    if (term == nullptr || term->status != "ok") return std::nullopt;
  }
  CurseOnly found;
  found.full_history = terms.full_history->nll;
  found.gap = terms.at_trained->nll - found.full_history;
  found.share = share_of_gap(terms.at_length->segments, trained_length, length);
  found.predicted = curse_only_loss(found.full_history, terms.at_trained->nll, found.share);
  found.observed = terms.at_length->nll;
  found.tokens = terms.at_length->scored_tokens;
  return found;
}

std::optional<double> curse_only_residual(std::span<const EvaluationResult> results, Index trained_length,
                                          Index length) {
  const std::optional<CurseOnly> found = curse_only(results, trained_length, length);
  if (!found) return std::nullopt;
  return found->residual();
}

ProbeResult residual_probe(std::span<const EvaluationResult> results, Index trained_length, Index length) {
  ProbeResult result{.probe = "residual", .length = length, .status = "ok", .reason = {}, .figures = {}};
  const Terms terms = terms_of(results, trained_length, length);
  for (const EvaluationResult* term : {terms.at_length, terms.full_history, terms.at_trained}) {
    require<StateError>(term != nullptr,
                        "residual at length {}: an evaluation that it is made of has not been done", length);
    if (term->status == "ok") continue;
    result.status = term->status;
    result.reason = term->reason;
    return result;
  }
  const CurseOnly found = *curse_only(results, trained_length, length);
  const auto add = [&](const char* quantity, double value) {
    result.figures.push_back(
        {.quantity = quantity, .span = 0, .layer = -1, .head = -1, .tokens = found.tokens, .value = value});
  };
  add("residual", found.residual());
  add("predicted_nll", found.predicted);
  return result;
}

}  // namespace tapeline

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/evaluate.h"
#include "train/probe.h"

namespace tapeline {

/// One probe at one length of window.
struct ProbeWork {
  std::string probe;
  Index length = 0;
};

/// Whether evaluate.probes names it.
bool wants_probe(const Config& config, std::string_view probe);

/// Whether the probe follows from the evaluations of a model, without running it.
bool follows_from_evaluations(std::string_view probe);

/// What the configuration asks for, in the order of probe_names() and evaluate.lengths:
///   residual          each length above L and up to sliding_up_to; needs both protocols, and L among the
///                     lengths
///   in_context        each length; needs nonoverlapping
///   phase             each length; needs nonoverlapping
///   hard_window       each length above L
///   history, shuffle  L, and the longest length up to sliding_up_to, where they are among the lengths: what
///                     can be afforded
///   attention         each length
/// positions and tail are in the evaluations themselves and no work.
std::vector<ProbeWork> probe_plan(const Config& config);

/// Why nothing comes of a probe that evaluate.probes names, and what to change, for people; empty: something
/// does.
std::string why_no_work(const Config& config, const std::string& probe);

/// Input tokens that run through the model in windows of that length.
struct WindowTokens {
  Index length = 0;
  Index tokens = 0;
};
/// What a probe costs; nothing for one that follows from the evaluations.
std::vector<WindowTokens> probe_tokens(const ProbeWork& work, Index trained_length,
                                       const EvaluationPlan& plan);

}  // namespace tapeline

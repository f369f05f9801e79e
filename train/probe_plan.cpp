#include "train/probe_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "train/config_derived.h"
#include "train/history_probe.h"
#include "train/shuffle_probe.h"

namespace tapeline {

namespace {

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool has_protocol(const Config& config, Protocol protocol) {
  return std::ranges::any_of(config.evaluate.protocols,
                             [&](const std::string& name) { return parse_protocol(name) == protocol; });
}

/// The lengths at which this probe is measured, whether it is asked for or not.
std::vector<Index> lengths_of(const Config& config, std::string_view probe) {
  const Index trained = config.train.length, limit = sliding_limit(config);
  std::vector<Index> lengths = evaluation_lengths(config);
  const bool trained_too = std::ranges::find(lengths, trained) != lengths.end();
  const bool plain = has_protocol(config, Protocol::nonoverlapping);
  if (probe == "residual") {
    if (!trained_too || !plain || !has_protocol(config, Protocol::sliding) || trained > limit) return {};
    std::erase_if(lengths, [&](Index length) { return length <= trained || length > limit; });
  } else if (probe == "in_context" || probe == "phase") {
    if (!plain) return {};
  } else if (probe == "hard_window") {
    std::erase_if(lengths, [&](Index length) { return length <= trained; });
  } else if (probe == "history" || probe == "shuffle") {
    const Index longest = longest_sliding_length(config);
    std::erase_if(lengths, [&](Index length) { return length != trained && length != longest; });
  } else if (probe != "attention") {
    return {};  // positions, tail
  }
  return lengths;
}

}  // namespace

const std::vector<std::string>& probe_names() {
  static const std::vector<std::string> names{"positions", "tail",    "residual", "in_context", "hard_window",
                                              "phase",     "history", "shuffle",  "attention"};
  return names;
}

const ProbeFigure* ProbeResult::find(const std::string& quantity, Index span, Index layer, Index head) const {
  for (const ProbeFigure& figure : figures) {
    if (figure.quantity == quantity && figure.span == span && figure.layer == layer && figure.head == head)
      return &figure;
  }
  return nullptr;
}

bool wants_probe(const Config& config, std::string_view probe) { return has(config.evaluate.probes, probe); }

bool follows_from_evaluations(std::string_view probe) {
  return probe == "positions" || probe == "tail" || probe == "residual" || probe == "in_context";
}

std::vector<ProbeWork> probe_plan(const Config& config) {
  std::vector<ProbeWork> work;
  for (const std::string& probe : probe_names()) {
    if (!wants_probe(config, probe)) continue;
    for (const Index length : lengths_of(config, probe)) work.push_back({probe, length});
  }
  return work;
}

std::string why_no_work(const Config& config, const std::string& probe) {
  const bool plain = has_protocol(config, Protocol::nonoverlapping);
  if (probe == "positions" || probe == "tail") {
    return plain ? "" : fmt::format("{}: needs non-overlapping windows", probe);
  }
  if (!lengths_of(config, probe).empty()) return "";
  const Index trained = config.train.length;
  if (probe == "in_context" || probe == "phase")
    return fmt::format("{}: needs non-overlapping windows", probe);
  if (probe == "hard_window") return fmt::format("hard_window: needs a length above the trained {}", trained);
  if (probe == "residual") {
    return fmt::format(
        "residual: needs both protocols, the trained length {} among the lengths, and one above it up to {}",
        trained, sliding_limit(config));
  }
  return fmt::format("{}: needs a length up to {}, the longest sliding window, or the trained one, {}", probe,
                     sliding_limit(config), trained);
}

std::vector<WindowTokens> probe_tokens(const ProbeWork& work, Index trained_length,
                                       const EvaluationPlan& plan) {
  const Index targets = plan.probe_targets.tokens(), length = work.length;
  std::vector<WindowTokens> all;
  if (work.probe == "hard_window") {
    // No row sees more than the trained length: the work of windows of about twice that.
    all.push_back({std::min(length, 2 * trained_length), plan.scored.tokens()});
  } else if (work.probe == "phase") {
    all.push_back({length, plan.scored.tokens()});
  } else if (work.probe == "history") {
    for (const Index span : history_spans(length)) all.push_back({span, span * targets});
  } else if (work.probe == "shuffle") {
    const auto times = static_cast<Index>(shuffle_spans(length).size()) + 1;
    all.push_back({length, times * length * targets});
  } else if (work.probe == "attention") {
    all.push_back({length, plan.attention.tokens()});
  }
  return all;
}

}  // namespace tapeline

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/counted.h"
#include "experiments/criteria/criterion.h"
#include "experiments/statistics/bootstrap.h"
#include "experiments/table.h"

namespace tapeline {
namespace {

constexpr std::size_t narrowest_room = 24;  // of a narrower terminal the lines run over

/// Names that share a text, in the order of first appearance.
class Grouped {
 public:
  void add(const std::string& name, const std::string& text) {
    const auto found = std::ranges::find(groups_, text, &Group::text);
    if (found == groups_.end()) {
      groups_.push_back({text, {name}});
    } else {
      found->names.push_back(name);
    }
  }
  /// "C1, C2: one seed, no interval." a line.
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const Group& group : groups_)
      all.push_back(fmt::format("{}: {}.", fmt::join(group.names, ", "), group.text));
    return all;
  }

 private:
  struct Group {
    std::string text;
    std::vector<std::string> names;
  };
  std::vector<Group> groups_;
};

}  // namespace

const char* const criteria_letters =
    "R(k): perplexity per byte in windows of k times the trained length L over that in windows of L, of one "
    "model on the same targets; R_tail(k): the same of the later halves of the windows; R_sliding(k): with "
    "full history at both lengths, at L by windows of stride 1; g: the loss in non-overlapping windows of L "
    "less that with full history; residual: what longer windows bring besides a smaller share of early "
    "tokens; nats: per byte. In brackets the 95 % t-interval over seeds, paired, which the verdict is of; "
    "tokens: the 95 % interval of a block bootstrap over the scored text; median and range of the seeds "
    "where "
    "they scatter widely.";

std::string few_blocks_text(const std::vector<CriterionResult>& results) {
  std::vector<std::string> ids;
  Index fewest = fewest_bootstrap_blocks;
  for (const CriterionResult& result : results) {
    for (const CriterionCondition& condition : result.conditions) {
      if (condition.blocks == 0 || condition.blocks >= fewest_bootstrap_blocks) continue;
      fewest = std::min(fewest, condition.blocks);
      if (ids.empty() || ids.back() != result.id) ids.push_back(result.id);
    }
  }
  if (ids.empty()) return {};
  return fmt::format(
      "{}: no interval over the text, of which {} {} scored; it takes {} "
      "(evaluate.sliding_tokens, or more text).",
      fmt::join(ids, ", "), counted(fewest, "block"), fewest == 1 ? "was" : "were", fewest_bootstrap_blocks);
}

std::string verdict_text(const std::optional<Verdict>& verdict) {
  return verdict ? verdict_text(*verdict) : std::string("not measured");
}

std::string criteria_text(const std::vector<CriterionResult>& results, std::size_t width) {
  if (results.empty()) return {};
  constexpr std::size_t id_width = 6, verdict_width = 14, margin = id_width + verdict_width;
  const std::size_t room = width == 0 ? 0 : std::max(narrowest_room, width - std::min(width, margin));
  std::string text = fmt::format("Criteria, judged by {}\n\n", results.front().version);
  Grouped reasons, unmeasured;
  bool primary = false, found = false;
  for (const CriterionResult& result : results) {
    if (result.figure.empty() && !result.verdict) {
      unmeasured.add(result.id, result.reason);
      continue;
    }
    found = true;
    primary = primary || result.primary;
    text += hanging(fmt::format("{:<{}}{:<{}}", result.primary ? result.id + "*" : result.id, id_width,
                                result.verdict ? verdict_text(*result.verdict) : "not judged", verdict_width),
                    margin, result.statement, room);
    const std::string blank(margin, ' ');
    if (!result.threshold.empty())
      text += hanging(blank, margin, fmt::format("asked: {}", result.threshold), room);
    if (!result.figure.empty()) text += hanging(blank, margin, fmt::format("found: {}", result.figure), room);
    if (!result.otherwise.empty() && result.verdict == Verdict::fails)
      text += hanging(blank, margin, fmt::format("so: {}", result.otherwise), room);
    if (!result.reason.empty()) reasons.add(result.id, result.reason);
  }
  const auto paragraph = [&](const std::string& lines) {
    for (const std::string& line : wrapped(lines, width == 0 ? 100 : width)) text += line + '\n';
  };
  if (found) {
    text += '\n';
    paragraph(criteria_letters);
    if (primary) paragraph("*: primary (compare.primary), declared before the run; --check looks at these.");
  }
  if (const std::string few = few_blocks_text(results); !few.empty()) paragraph(few);
  for (const std::string& line : reasons.lines()) paragraph(line);
  for (const std::string& line : unmeasured.lines()) paragraph(fmt::format("Not measured: {}", line));
  return text;
}

}  // namespace tapeline

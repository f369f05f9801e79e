#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "core/counted.h"
#include "experiments/criteria/findings.h"

namespace tapeline {

Findings learned_refuses(const Evidence& evidence, const Thresholds&) {
  const Encoding learned = evidence.find("learned");
  Findings findings;
  if (learned.variant.empty()) {
    findings.conditions.push_back(not_measured("refused at every length past L", learned.absent));
    return findings;
  }
  CriterionCondition condition =
      not_measured(fmt::format("refused at every length past {}", learned.train_length), {});
  std::set<Index> refused;
  std::set<std::uint64_t> seeds;
  std::vector<std::string> evaluated, left_out;
  for (const FinishedCell* model : learned.cells) {
    if (model->record.training == "diverged") {
      left_out.push_back(fmt::format("{}, seed {}, diverged in training", model->variant, model->seed));
      continue;
    }
    for (const RecordedResult& recorded : model->record.results) {
      const EvaluationResult& result = recorded.result;
      if (recorded.evaluation != trained_evaluation || result.cell.length <= learned.train_length) continue;
      seeds.insert(model->seed);
      if (result.status == "refused") {
        refused.insert(result.cell.length);
      } else {
        evaluated.push_back(
            fmt::format("{} ({}, seed {})", result.cell.length, result.cell.protocol_name(), model->seed));
      }
    }
  }
  condition.seeds = static_cast<Index>(seeds.size());
  if (!evaluated.empty()) {
    condition.verdict = Verdict::fails;
    condition.found = fmt::format("not refused: {}", fmt::join(evaluated, ", "));
  } else if (!refused.empty()) {
    condition.verdict = Verdict::holds;
    condition.found =
        fmt::format("refused at {} ({})", fmt::join(refused, ", "), counted(condition.seeds, "seed"));
  } else if (left_out.empty()) {
    left_out.push_back(fmt::format("no length past {} was evaluated", learned.train_length));
  } else {
    left_out.insert(left_out.begin(), "no model is left");
  }
  condition.reason = fmt::format("{}", fmt::join(left_out, "; "));
  findings.conditions.push_back(std::move(condition));
  return findings;
}

}  // namespace tapeline

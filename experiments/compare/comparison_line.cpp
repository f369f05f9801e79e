#include "experiments/compare/comparison_line.h"

#include <fmt/format.h>

#include "train/flops.h"

namespace tapeline {

std::string ComparisonLine::text(std::size_t number, const CellProgress& at, double share,
                                 double seconds_left) {
  const Cell& cell = cells_[number];
  const TrainConfig& train = cell.config.config.train;
  std::string doing = at.doing;
  if (at.training) {
    doing = fmt::format("step {}/{}, loss {:.3f}", at.step, train.steps, at.loss);
    if (pace_ && paced_ == number) {
      doing += ", " + pace_->look(at.step);
    } else {
      const TokenFlops flops = token_flops(cell.config.config.model, vocabulary_, train.length,
                                           cell.config.config.positional.keys);
      pace_.emplace(at.step, train.tokens_per_step, flops.training(), gemm_gflops_);
      paced_ = number;
    }
  }
  return fmt::format("[{}/{}] {}: {} · {:.0f}% of everything · {} left", number + 1, cells_.size(),
                     cell.label(), doing, 100 * share, duration_text(seconds_left));
}

std::string finished_text(const std::vector<Cell>& cells, std::size_t number, const CellRecord& record) {
  std::string text = fmt::format("[{}/{}] {}: ", number + 1, cells.size(), cells[number].label());
  if (record.training == "diverged") return text + "diverged: " + record.reason;
  std::string bits;
  for (const RecordedResult& recorded : record.results) {
    const EvaluationResult& result = recorded.result;
    if (recorded.evaluation != trained_evaluation || !result.cell.on_whole_set()) continue;
    bits += fmt::format("{}{}: {}", bits.empty() ? "" : ", ", result.cell.length,
                        result.status == "ok" ? fmt::format("{:.3f}", result.bits_per_byte) : result.status);
  }
  return text + (bits.empty() ? std::string("done") : "bits per byte at " + bits);
}

}  // namespace tapeline

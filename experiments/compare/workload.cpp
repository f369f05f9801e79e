#include "experiments/compare/workload.h"

#include "train/flops.h"

namespace tapeline {
namespace {

// Evaluation has no large batches and reads its keys from a cache: about twice as slow an operation.
constexpr double evaluation_weight = 2;

}  // namespace

Workload::Workload(const std::vector<Cell>& cells, Index vocabulary, const ComparedTargets& targets) {
  for (const Cell& cell : cells) {
    before_.push_back(total_);
    const Config& config = cell.config.config;
    CellWork work;
    if (cell.part != CellPart::swept) {
      work.training =
          token_flops(config.model, vocabulary, config.train.length, config.positional.keys).training() *
          static_cast<double>(config.train.steps * config.train.tokens_per_step);
    }
    total_ += work.training;
    const auto add = [&](double operations) {
      work.evaluations.push_back(operations);
      total_ += operations;
    };
    for (const EvaluationWork& evaluation : evaluation_work(cell, targets))
      add(Workload::evaluation(config, vocabulary, evaluation.cell.length, evaluation.input_tokens));
    for (const CellProbe& probe : probe_work(cell)) {
      const EvaluationPlan plan =
          evaluation_plan(probe.under->config, targets.scored, targets.longest_sliding);
      add(Workload::probe(probe.under->config, vocabulary, probe.work, plan));
    }
    cells_.push_back(std::move(work));
  }
  before_.push_back(total_);
}

double Workload::evaluation(const Config& config, Index vocabulary, Index length, Index tokens) {
  return evaluation_weight * token_flops(config.model, vocabulary, length, config.positional.keys).forward() *
         static_cast<double>(tokens);
}

double Workload::probe(const Config& config, Index vocabulary, const ProbeWork& work,
                       const EvaluationPlan& plan) {
  double operations = 0;
  for (const WindowTokens& windows : probe_tokens(work, config.train.length, plan)) {
    const TokenFlops token = token_flops(config.model, vocabulary, windows.length, config.positional.keys);
    // The probe of attention computes the scores once more.
    const double again = work.probe == "attention" ? token.attention : 0;
    operations += (token.forward() + again) * static_cast<double>(windows.tokens);
  }
  return evaluation_weight * operations;
}

double Workload::evaluation(std::size_t cell) const {
  return before_[cell + 1] - before_[cell] - cells_[cell].training;
}

double Workload::before(std::size_t cell) const { return before_[cell]; }

double Workload::done(std::size_t cell, const CellProgress& at) const {
  const CellWork& work = cells_[cell];
  if (at.training) return before_[cell] + work.training * at.share;
  double done = before_[cell] + work.training;
  for (std::size_t i = 0; i < at.evaluation; ++i) done += work.evaluations[i];  // and probes
  return done + work.evaluations[at.evaluation] * at.share;
}

}  // namespace tapeline

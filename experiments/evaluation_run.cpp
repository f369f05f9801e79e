#include "experiments/evaluation_run.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "experiments/compare/workload.h"
#include "experiments/evaluation_output.h"

namespace tapeline {

EvaluationCounter::EvaluationCounter(const EvaluationSubject& subject) {
  const Index vocabulary = subject.tokenizer.size();
  const auto add = [&](Index length, double operations) {
    operations_.push_back(refused_length(subject.model, length) ? 0 : operations);
  };
  for (const EvaluationCell& cell : subject.plan.cells)
    add(cell.length,
        Workload::evaluation(subject.config, vocabulary, cell.length, input_tokens(subject.plan, cell)));
  for (const ProbeWork& work : probe_plan(subject.config)) {
    if (!follows_from_evaluations(work.probe))
      add(work.length, Workload::probe(subject.config, vocabulary, work, subject.plan));
  }
  total_ = std::accumulate(operations_.begin(), operations_.end(), 0.0);
}

void EvaluationCounter::begin(std::string doing) {
  if (number_ > 0) before_ += operations_[number_ - 1];
  ++number_;
  doing_ = std::move(doing);
}

double EvaluationCounter::share_of_everything(double share) const {
  return total_ > 0 ? (before_ + share * operations_[number_ - 1]) / total_ : 1;
}

std::string EvaluationCounter::text(double share) const {
  const double done = share_of_everything(share);
  return fmt::format("[{}/{}] {} · {:.0f}% of everything · {} left", number_, operations_.size(), doing_,
                     100 * done, duration_text(time_left_.seconds(done)));
}

Measured run_evaluation(const EvaluationSubject& subject, ProgressStyle style) {
  Measured measured;
  EvaluationCounter counter(subject);
  Progress progress(style);
  EvaluationOptions options;
  options.progress = [&](double share) {
    if (progress.due()) progress.show(counter.text(share));
  };
  for (const EvaluationCell& cell : subject.plan.cells) {
    counter.begin(fmt::format("length {}, {}", cell.length, protocol_label(cell)));
    measured.results.push_back(
        evaluate_cell(subject.model, subject.text, subject.tokenizer, subject.plan, cell, options));
  }
  const ProbeSubject probed{subject.model, subject.text, subject.tokenizer, subject.plan, measured.results};
  for (const ProbeWork& work : probe_plan(subject.config)) {
    if (follows_from_evaluations(work.probe)) {
      measured.probes.push_back(probe_of_evaluations(work, measured.results, subject.config.train.length));
      continue;
    }
    counter.begin(fmt::format("probe {} at length {}", work.probe, work.length));
    measured.probes.push_back(run_probe(work, probed, options));
  }
  progress.finish();
  return measured;
}

}  // namespace tapeline

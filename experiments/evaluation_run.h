#pragma once

#include <string>
#include <vector>

#include "train/probe_run.h"
#include "train/progress.h"

namespace tapeline {

/// What is evaluated: a model under a configuration on a text. All must live as long.
struct EvaluationSubject {
  const Transformer& model;
  const TokenStore& text;
  const Tokenizer& tokenizer;
  const Config& config;
  const EvaluationPlan& plan;
};

/// Everything that was measured, in the order of the plan and of probe_plan().
struct Measured {
  std::vector<EvaluationResult> results;
  std::vector<ProbeResult> probes;
};

/// Counts the evaluations and the probes of one model as one work, by floating-point operations, and tells
/// how much of everything is done and how long the rest takes.
class EvaluationCounter {
 public:
  explicit EvaluationCounter(const EvaluationSubject& subject);

  /// What is done now comes next; "length 64, sliding, stride 8".
  void begin(std::string doing);
  /// "[3/17] length 64, sliding, stride 8 · 42% of everything · 8s left", where `share` of what is done now
  /// is done.
  std::string text(double share) const;

 private:
  double share_of_everything(double share) const;

  std::vector<double> operations_;  // of every evaluation, then of every probe that runs the model
  double before_ = 0, total_ = 0;
  std::size_t number_ = 0;  // of what is done now, from 1
  std::string doing_;
  TimeLeft time_left_;
};

/// Runs every cell and every probe. Polls signals (throws Stopped).
Measured run_evaluation(const EvaluationSubject& subject, ProgressStyle progress);

}  // namespace tapeline

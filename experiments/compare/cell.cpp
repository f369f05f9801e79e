#include "experiments/compare/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/evaluation_output.h"
#include "experiments/median.h"
#include "train/checkpoint.h"
#include "train/config_derived.h"
#include "train/metrics.h"
#include "train/probe_run.h"
#include "train/run_folder.h"
#include "train/signals.h"

namespace tapeline {
namespace {

/// The median of what metrics.jsonl says of the speed; 0 when it says nothing.
double median_training_speed(const std::filesystem::path& metrics) {
  std::vector<double> speeds;
  visit_metrics(metrics, [&](const std::string&, const nlohmann::json& entry) {
    const auto speed = entry.find("tokens_per_second");
    if (speed != entry.end() && speed->is_number()) speeds.push_back(*speed);
    return true;
  });
  return median(std::move(speeds));
}

/// The weights of `trained` in a model of other positional settings. A name or shape that differs cannot be
/// evaluated.
std::unique_ptr<Transformer> with_settings(const Transformer& trained, const Config& config,
                                           const std::string& evaluation) {
  auto model = std::make_unique<Transformer>(model_plan(config));
  require<ConfigError>(
      model->parameters().parameters().size() == trained.parameters().parameters().size(),
      "compare: evaluation \"{}\" needs other weights than those trained; change only what has none",
      evaluation);
  for (const Parameter& from : trained.parameters().parameters()) {
    Parameter* to = model->parameters().find(from.name());
    require<ConfigError>(
        to != nullptr && to->shape() == from.shape(),
        "compare: evaluation \"{}\" has no \"{}\" of shape {}; change only what has no weights", evaluation,
        from.name(), from.shape().text());
    std::copy_n(from.value().data, from.value().size(), to->mutable_value().data);
  }
  return model;
}

EvaluationResult diverged_result(const EvaluationCell& cell, const std::string& reason) {
  EvaluationResult result;
  result.cell = cell;
  result.status = "diverged";
  result.reason = reason;
  return result;
}

void train(CellRecord& record, const Cell& cell, const CellSurroundings& surroundings,
           const std::filesystem::path& folder, const std::function<void(const CellProgress&)>& progress) {
  TrainOptions options;
  options.folder = folder;
  options.resume = RunFolder(folder).holds_run();
  options.label = cell.label();
  options.goes_on = "the same command goes on";
  options.gemm_gflops = surroundings.gemm_gflops;
  const auto steps = static_cast<double>(cell.config.config.train.steps);
  options.after_step = [&](const StepDone& done) {
    if (progress)
      progress({.training = true,
                .step = done.step,
                .loss = done.loss,
                .share = static_cast<double>(done.step) / steps,
                .doing = {}});
  };
  try {
    const TrainOutcome outcome = train_model(cell.config, surroundings.text, options);
    record.training = "done";
    record.training_loss = outcome.loss;
  } catch (const NumericError& error) {
    record.training = "diverged";
    record.reason = error.what();
  }
  record.tokens_per_second = median_training_speed(RunFolder(folder).metrics_file());
  record.threads = thread_count();
}

/// What is done with a cell that has been trained: everything that its record does not hold yet, one after
/// the other, the record written after each.
class CellWorker {
 public:
  CellWorker(CellRecord& record, const Cell& cell, const CellSurroundings& surroundings,
             const std::filesystem::path& folder, const std::function<void(const CellProgress&)>& progress)
      : record_(record),
        cell_(cell),
        surroundings_(surroundings),
        folder_(folder),
        progress_(progress),
        evaluations_(evaluation_work(cell, surroundings.targets)) {}

  void evaluate() {
    for (std::size_t i = 0; i < evaluations_.size(); ++i) {
      const auto& [under, at, input_tokens] = evaluations_[i];
      if (record_.find(under->name, at) != nullptr) continue;
      if (record_.training == "diverged") {
        record_.results.push_back({under->name, diverged_result(at, record_.reason)});
        continue;
      }
      stop_if_signalled();
      const Transformer& model = model_under(*under);
      const bool as_trained = under->name == trained_evaluation;
      const EvaluationOptions options =
          shown(i, fmt::format("evaluating{} at {}, {}", as_trained ? "" : " under " + under->name, at.length,
                               protocol_label(at)));
      record_.results.push_back(
          {under->name, evaluate_cell(model, surroundings_.text.store, surroundings_.text.tokenizer,
                                      plan(*under), at, options)});
      write_record(folder_, record_);
    }
  }

  /// After evaluate().
  void probe() {
    const std::vector<CellProbe> probes = probe_work(cell_);
    for (std::size_t i = 0; i < probes.size(); ++i) {
      const auto& [under, work] = probes[i];
      if (record_.find_probe(under->name, work.probe, work.length) != nullptr) continue;
      if (record_.training == "diverged") {
        record_.probes.push_back(
            {under->name, {work.probe, work.length, "diverged", record_.reason, /*figures=*/{}}});
      } else if (follows_from_evaluations(work.probe)) {
        record_.probes.push_back({under->name, probe_of_evaluations(work, record_.results_of(under->name),
                                                                    under->config.train.length)});
      } else {
        stop_if_signalled();
        const EvaluationPlan targets = plan(*under);
        const std::vector<EvaluationResult> evaluations = record_.results_of(under->name);
        const ProbeSubject subject{model_under(*under), surroundings_.text.store,
                                   surroundings_.text.tokenizer, targets, evaluations};
        record_.probes.push_back(
            {under->name, run_probe(work, subject,
                                    shown(evaluations_.size() + i,
                                          fmt::format("probe {} at {}", work.probe, work.length)))});
        write_record(folder_, record_);
      }
    }
  }

 private:
  /// The trained model under these settings; it stays until the next call.
  const Transformer& model_under(const CellEvaluation& under) {
    if (!trained_) {
      trained_ = Checkpoint(resolve_checkpoint(folder_)).make_model();
      record_.parameters = trained_->parameters().size();
    }
    if (under.name == trained_evaluation) return *trained_;
    if (changed_under_ != &under) {
      changed_ = with_settings(*trained_, under.config, under.name);
      changed_under_ = &under;
    }
    return *changed_;
  }

  EvaluationPlan plan(const CellEvaluation& under) const {
    return evaluation_plan(under.config, surroundings_.targets.scored, surroundings_.targets.longest_sliding);
  }

  /// Options that tell how far number `work` is. It is known by its number in Workload, too.
  EvaluationOptions shown(std::size_t work, std::string doing) const {
    EvaluationOptions options;
    options.progress = [this, work, doing = std::move(doing)](double share) {
      if (progress_) progress_({.share = share, .evaluation = work, .doing = doing});
    };
    return options;
  }

  CellRecord& record_;
  const Cell& cell_;
  const CellSurroundings& surroundings_;
  const std::filesystem::path& folder_;
  const std::function<void(const CellProgress&)>& progress_;
  std::vector<EvaluationWork> evaluations_;
  std::unique_ptr<Transformer> trained_, changed_;
  const CellEvaluation* changed_under_ = nullptr;
};

}  // namespace

std::vector<EvaluationWork> evaluation_work(const Cell& cell, const ComparedTargets& targets) {
  std::vector<EvaluationWork> all;
  for (const CellEvaluation& evaluation : cell.evaluations) {
    const EvaluationPlan plan = evaluation_plan(evaluation.config, targets.scored, targets.longest_sliding);
    for (const EvaluationCell& at : plan.cells) {
      all.push_back({&evaluation, at, input_tokens(plan, at)});
    }
  }
  return all;
}

std::vector<CellProbe> probe_work(const Cell& cell) {
  std::vector<CellProbe> all;
  for (const CellEvaluation& evaluation : cell.evaluations) {
    for (ProbeWork& work : probe_plan(evaluation.config)) {
      if (evaluation.name != trained_evaluation && !follows_from_evaluations(work.probe)) continue;
      all.push_back({&evaluation, std::move(work)});
    }
  }
  return all;
}

CellRecord run_cell(const Cell& cell, const CellSurroundings& surroundings,
                    const std::filesystem::path& folder,
                    const std::function<void(const CellProgress&)>& progress) {
  CellRecord record = read_record(folder);
  const std::string& digest = surroundings.text.store.digest();
  require<ConfigError>(record.corpus_digest.empty() || record.corpus_digest == digest,
                       "compare: the cell in \"{}\" was trained on another text than \"{}\" holds now; give "
                       "the text as it was, or another --out",
                       folder.string(), surroundings.text.store.source());
  if (record.complete) return record;
  record.corpus_digest = digest;

  if (record.training.empty()) {
    train(record, cell, surroundings, folder, progress);
    write_record(folder, record);
  }

  CellWorker worker(record, cell, surroundings, folder, progress);
  worker.evaluate();
  worker.probe();
  record.complete = cell.part != CellPart::sweep_point;  // of such a one more may be asked later
  write_record(folder, record);
  return record;
}

}  // namespace tapeline

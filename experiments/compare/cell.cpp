#include "experiments/compare/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiments/evaluation_output.h"
#include "experiments/median.h"
#include "train/checkpoint.h"
#include "train/config_derived.h"
#include "train/run_folder.h"
#include "train/signals.h"

namespace tapeline {
namespace {

/// The median of what metrics.jsonl says of the speed; 0 when it says nothing.
double median_training_speed(const std::filesystem::path& metrics) {
  std::vector<double> speeds;
  std::ifstream file(metrics);
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
    if (!entry.is_object() || !entry.contains("tokens_per_second")) continue;
    if (entry["tokens_per_second"].is_number()) speeds.push_back(entry["tokens_per_second"]);
  }
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
}

}  // namespace

std::vector<EvaluationWork> evaluation_work(const Cell& cell, const ComparedTargets& targets) {
  std::vector<EvaluationWork> all;
  for (const CellEvaluation& evaluation : cell.evaluations) {
    const EvaluationPlan plan = evaluation_plan(evaluation.config, targets.scored, targets.longest_sliding);
    for (const EvaluationCell& at : plan.cells) {
      const Index count = (at.subset ? plan.subset : plan.scored).tokens();
      const Index rows = at.protocol == Protocol::sliding ? at.length : at.stride;
      all.push_back({&evaluation, at, count * rows / std::max<Index>(1, at.stride)});
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

  const std::vector<EvaluationWork> work = evaluation_work(cell, surroundings.targets);
  std::unique_ptr<Transformer> trained, model;
  const CellEvaluation* under = nullptr;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto& [evaluation, at, input_tokens] = work[i];
    if (record.find(evaluation->name, at) != nullptr) continue;
    if (record.training == "diverged") {
      record.results.push_back({evaluation->name, diverged_result(at, record.reason)});
      continue;
    }
    stop_if_signalled();
    if (!trained) trained = Checkpoint(resolve_checkpoint(folder)).make_model();
    const bool as_trained = evaluation->name == trained_evaluation;
    if (!as_trained && under != evaluation) {
      model = with_settings(*trained, evaluation->config, evaluation->name);
      under = evaluation;
    }
    record.parameters = trained->parameters().size();
    const std::string doing =
        fmt::format("evaluating{} at {}, {}", as_trained ? "" : " under " + evaluation->name, at.length,
                    protocol_label(at));
    EvaluationOptions options;
    options.progress = [&, i](double share) {
      if (progress) progress({.share = share, .evaluation = i, .doing = doing});
    };
    const EvaluationPlan plan = evaluation_plan(evaluation->config, surroundings.targets.scored,
                                                surroundings.targets.longest_sliding);
    record.results.push_back(
        {evaluation->name, evaluate_cell(as_trained ? *trained : *model, surroundings.text.store,
                                         surroundings.text.tokenizer, plan, at, options)});
    write_record(folder, record);
  }
  record.complete = cell.part != CellPart::sweep_point;  // of such a one more may be asked later
  write_record(folder, record);
  return record;
}

}  // namespace tapeline

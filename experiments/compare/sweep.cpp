#include "experiments/compare/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "experiments/compare/results.h"
#include "train/flops.h"

namespace tapeline {
namespace {

/// What a point is chosen by.
EvaluationCell at_trained_length(const Config& config) {
  return {Protocol::nonoverlapping, config.train.length, config.train.length, false};
}

void set_rate(Cell& cell, double multiple, double rate) {
  cell.rate_multiple = multiple;
  cell.config.config.optimizer.lr = rate;
  // The same for the training in the sweep and for those of the other seeds: it stands in their checkpoints.
  cell.config.origins["optimizer.lr"] = fmt::format("compare.sweep, {} times the rate given", multiple);
  for (CellEvaluation& evaluation : cell.evaluations) evaluation.config.optimizer.lr = rate;
}

Cell point_of(const Cell& cell, double multiple) {
  Cell point = cell;
  point.part = CellPart::sweep_point;
  set_rate(point, multiple, multiple * cell.config.config.optimizer.lr);
  CellEvaluation& trained = point.evaluations.front();
  trained.config.evaluate.lengths = {fmt::format("{}", trained.config.train.length)};
  trained.config.evaluate.protocols = {"nonoverlapping"};
  trained.config.evaluate.probes.clear();
  point.evaluations.resize(1);
  return point;
}

/// Marks the points that are taken; `planned`: how many each variant has in all.
void choose(std::vector<SweepPoint>& sweep, const std::map<std::string, Index>& planned) {
  for (const auto& [variant, count] : planned) {
    SweepPoint* best = nullptr;
    Index measured = 0;
    for (SweepPoint& point : sweep) {
      if (point.variant != variant) continue;
      ++measured;
      const bool better = best == nullptr ||
                          (point.status == "ok" && (best->status != "ok" || point.nll < best->nll)) ||
                          (point.status != "ok" && best->status != "ok" && point.lr < best->lr);
      if (better) best = &point;
    }
    if (measured == count) best->chosen = true;
  }
}

}  // namespace

std::vector<Cell> plan_sweep(const Config& config, std::vector<Cell>& cells) {
  std::vector<Cell> points;
  if (config.compare.sweep.empty()) return points;
  for (Cell& cell : cells) {
    if (cell.seed != config.train.seed) continue;
    const Config& trained = cell.config.config;
    require<ConfigError>(
        trained.optimizer.lr > 0 && trained.train.steps > 0,
        "compare.sweep: no rate of \"{}\" can be better than another with optimizer.lr {} and "
        "train.steps {}; give both above 0, or leave the sweep out",
        cell.variant, trained.optimizer.lr, trained.train.steps);
    for (const double multiple : config.compare.sweep) points.push_back(point_of(cell, multiple));
    cell.part = CellPart::swept;
  }
  return points;
}

std::vector<SweepPoint> measured_sweep(const std::vector<Cell>& cells,
                                       const std::vector<CellRecord>& records) {
  std::vector<SweepPoint> sweep;
  std::map<std::string, Index> planned;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    if (cell.part != CellPart::sweep_point) continue;
    ++planned[cell.variant];
    const Config& config = cell.config.config;
    const EvaluationResult* result = records[i].find(trained_evaluation, at_trained_length(config));
    if (result == nullptr) continue;
    const Index tokens = config.train.steps * config.train.tokens_per_step;
    const TokenFlops flops =
        token_flops(config.model, config.data.vocabulary, config.train.length, config.positional.keys);
    sweep.push_back({.variant = cell.variant,
                     .kind = config.positional.name(),
                     .seed = cell.seed,
                     .train_length = config.train.length,
                     .multiple = cell.rate_multiple,
                     .lr = config.optimizer.lr,
                     .steps = config.train.steps,
                     .trained_tokens = tokens,
                     .training_flop = flops.training() * static_cast<double>(tokens),
                     .status = result->status,
                     .scored_tokens = result->scored_tokens,
                     .nll = result->nll,
                     .tokens_per_second = records[i].tokens_per_second,
                     .chosen = false});
  }
  choose(sweep, planned);
  return sweep;
}

void take_rates(std::vector<Cell>& cells, const std::vector<SweepPoint>& sweep) {
  for (Cell& cell : cells) {
    if (cell.part == CellPart::sweep_point) continue;
    const auto chosen = std::ranges::find_if(
        sweep, [&](const SweepPoint& point) { return point.chosen && point.variant == cell.variant; });
    if (chosen != sweep.end()) set_rate(cell, chosen->multiple, chosen->lr);
  }
}

std::string sweep_csv(const std::vector<SweepPoint>& sweep) {
  std::string text =
      "name,kind,seed,train_length,multiple,lr,steps,trained_tokens,training_flop,scored_tokens,status,nll,"
      "chosen,tokens_per_second\n";
  for (const SweepPoint& point : sweep) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:.0f}\n", csv_field(point.variant),
                        csv_field(point.kind), point.seed, point.train_length, csv_number(point.multiple),
                        csv_number(point.lr), point.steps, point.trained_tokens,
                        csv_number(point.training_flop), point.scored_tokens, point.status,
                        csv_number(point.nll), point.chosen ? "yes" : "no", point.tokens_per_second);
  }
  return text;
}

}  // namespace tapeline

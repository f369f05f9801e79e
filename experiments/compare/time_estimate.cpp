#include "experiments/compare/time_estimate.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "experiments/measured_step.h"
#include "train/config_derived.h"

namespace tapeline {
namespace {

/// One evaluation of an untrained model at one length, in seconds an operation; nothing for a length that the
/// encoding refuses.
std::optional<double> evaluation_speed(const Transformer& model, const Config& config, Index length,
                                       const Layout& layout, const TokenStore& store,
                                       const Tokenizer& tokenizer) {
  // As many windows at once as an evaluation runs, where they are short.
  const Index wanted = std::max(length, EvaluationOptions{}.batch_tokens);
  EvaluationPlan plan;
  for (ScoredSegment segment : layout.targets.scored.segments) {
    const Index missing = wanted - plan.scored.tokens();
    if (missing <= 0) break;
    segment.count = std::min(segment.count, missing);
    plan.scored.segments.push_back(segment);
  }
  plan.cells = {{Protocol::nonoverlapping, length, length, false}};
  double fastest = 0;
  for (int time = 0; time < 2; ++time) {  // the first takes the memory
    const auto start = std::chrono::steady_clock::now();
    const EvaluationResult result = evaluate_cell(model, store, tokenizer, plan, plan.cells.front());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (result.status == "refused") return std::nullopt;
    fastest = time == 0 ? seconds : std::min(fastest, seconds);
  }
  return fastest / Workload::evaluation(config, tokenizer.size(), length, plan.scored.tokens());
}

std::optional<VariantSpeed> measure_speed(const Config& config, const Layout& layout, const TokenStore& store,
                                          const Tokenizer& tokenizer) {
  constexpr double seconds_of_steps = 0.5;
  const std::optional<MeasuredStep> step = measure_step(config, seconds_of_steps);
  if (!step) return std::nullopt;
  VariantSpeed speed{step->seconds, 0};
  const Transformer model(model_plan(config));
  // Most windows are short, most time goes into long ones: the mean of both.
  Index longer = config.train.length;
  for (const Index length : evaluation_lengths(config)) {
    if (length <= 8 * config.train.length) longer = std::max(longer, length);
  }
  double sum = 0;
  int measured = 0;
  for (const Index length : std::set<Index>{config.train.length, longer}) {
    if (const auto seconds = evaluation_speed(model, config, length, layout, store, tokenizer)) {
      sum += *seconds;
      ++measured;
    }
  }
  speed.operation_seconds = measured > 0 ? sum / measured : 0;
  return speed;
}

}  // namespace

std::vector<std::string> variant_names(const Layout& layout) {
  std::vector<std::string> names;
  for (const Cell& cell : layout.cells) {
    if (std::ranges::find(names, cell.variant) == names.end()) names.push_back(cell.variant);
  }
  return names;
}

std::optional<VariantSpeeds> measure_speeds(const Layout& layout, const std::vector<std::string>& variants,
                                            const TokenStore& store, const Tokenizer& tokenizer) {
  VariantSpeeds speeds;
  for (const std::string& variant : variants) {
    const auto cell = std::ranges::find(layout.cells, variant, &Cell::variant);
    if (cell == layout.cells.end() || speeds.contains(variant)) continue;
    const auto speed = measure_speed(cell->config.config, layout, store, tokenizer);
    if (!speed) return std::nullopt;
    speeds[variant] = *speed;
  }
  return speeds;
}

ComparisonTime& ComparisonTime::operator+=(const ComparisonTime& other) {
  training += other.training;
  evaluation += other.evaluation;
  return *this;
}

ComparisonTime cell_time(const Layout& layout, std::size_t cell, const VariantSpeeds& speeds) {
  const VariantSpeed& speed = speeds.at(layout.cells[cell].variant);
  const auto steps = static_cast<double>(layout.cells[cell].config.config.train.steps);
  const bool trains = layout.cells[cell].part != CellPart::swept;
  return {trains ? steps * speed.step_seconds : 0,
          layout.workload.evaluation(cell) * speed.operation_seconds};
}

ComparisonTime whole_time(const Layout& layout, const VariantSpeeds& speeds) {
  ComparisonTime time;
  for (std::size_t i = 0; i < layout.cells.size(); ++i) time += cell_time(layout, i, speeds);
  return time;
}

}  // namespace tapeline

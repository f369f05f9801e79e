#include "experiments/compare/layout.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "experiments/compare/sweep.h"
#include "train/config_derived.h"

namespace tapeline {
namespace {

/// What would give one variant other targets than the rest.
bool chooses_targets(const std::string& key) {
  return key == "evaluate.scored" || key == "evaluate.sliding_tokens";
}

/// All that is compared is so in non-overlapping windows: without them there would be no answer.
void require_nonoverlapping(const Cell& cell, const Config& config) {
  const std::vector<std::string>& protocols = config.evaluate.protocols;
  require<ConfigError>(std::ranges::find(protocols, "nonoverlapping") != protocols.end(),
                       "compare: evaluate.protocols of {} is {}; table, figure and verdicts of a comparison "
                       "are of non-overlapping windows: add \"nonoverlapping\" (tapeline evaluate measures a "
                       "model in sliding windows alone)",
                       cell.variant, protocols);
}

/// One split and one set of targets for all lengths of all cells.
struct SharedText {
  Splits splits;
  ComparedTargets targets;
};

SharedText shared_text(const ResolvedConfig& config, const std::vector<Cell>& cells, Index tokens) {
  Config all = config.config;
  Index longest = 0, longest_sliding = 0;
  for (const Cell& cell : cells) {
    for (const CellEvaluation& evaluation : cell.evaluations) {
      for (const ConfigDifference& difference : config_difference(config.config, evaluation.config)) {
        require<ConfigError>(!difference.key.starts_with("data."),
                             "compare: variant \"{}\" sets {}; all variants share one text and one split",
                             cell.variant, difference.key);
        require<ConfigError>(!chooses_targets(difference.key),
                             "compare: variant \"{}\" sets {}; all variants are scored on the same targets: "
                             "give it outside the variants",
                             cell.variant, difference.key);
      }
      require_nonoverlapping(cell, evaluation.config);
      for (const Index length : evaluation_lengths(evaluation.config)) longest = std::max(longest, length);
      longest_sliding = std::max(longest_sliding, longest_sliding_length(evaluation.config));
    }
  }
  // The blocks must be long enough for the longest length of any variant.
  all.evaluate.lengths.push_back(fmt::format("{}", longest));
  SharedText shared;
  shared.splits = configured_splits(all, tokens);
  require<DataError>(
      !shared.splits.validation.empty(),
      "compare: data.validation_share is {}: there is nothing to evaluate on; give a share above 0",
      config.config.data.validation_share);
  shared.targets = {config.config.evaluate.scored == "all" ? scored_all(shared.splits.validation)
                                                           : scored_set(shared.splits.validation, longest),
                    longest_sliding};
  return shared;
}

/// A checkpoint must know the split it was trained with, also when that was chosen for the lengths of all
/// variants: evaluated alone it would choose another one, and validate on text it has seen.
void fix_split(std::vector<Cell>& cells, Index block) {
  for (Cell& cell : cells) {
    if (cell.config.config.data.block == 0) cell.config.origins["data.block"] = "compare, for all variants";
    cell.config.config.data.block = block;
    for (CellEvaluation& evaluation : cell.evaluations) evaluation.config.data.block = block;
  }
}

std::vector<double> costs_of(const Workload& workload, std::size_t cells) {
  std::vector<double> costs;
  for (std::size_t i = 0; i < cells; ++i) costs.push_back(workload.training(i) + workload.evaluation(i));
  return costs;
}

}  // namespace

Layout lay_out(const ResolvedConfig& config, Index tokens, Index vocabulary, const Share& share) {
  std::vector<Cell> models = plan_cells(config);
  SharedText shared = shared_text(config, models, tokens);
  fix_split(models, shared.splits.block);
  std::vector<Cell> all = plan_sweep(config.config, models);
  const auto planned = static_cast<Index>(models.size());
  std::ranges::move(models, std::back_inserter(all));
  const Workload whole(all, vocabulary, shared.targets);
  std::vector<Cell> own = cells_of_share(all, costs_of(whole, all.size()), share);
  const Workload workload(own, vocabulary, shared.targets);
  return {std::move(own), planned, std::move(shared.splits), std::move(shared.targets), workload};
}

Splits comparison_splits(const ResolvedConfig& config, Index tokens) {
  return shared_text(config, plan_cells(config), tokens).splits;
}

}  // namespace tapeline

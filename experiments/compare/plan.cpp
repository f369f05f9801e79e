#include "experiments/compare/plan.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "layers/transformer.h"
#include "train/config_derived.h"

namespace tapeline {
namespace {

/// Seeds are the comparison's: under seeds of its own a variant would be paired with nothing.
void check_variant(const Variant& variant) {
  require<ConfigError>(!variant.changes.contains("train.seed"),
                       "compare: variant \"{}\" sets train.seed; all variants are trained under the same "
                       "seeds, give train.seed and compare.seeds outside the variants",
                       variant.name);
}

/// A pattern that no variant has would be passed over in silence.
void check_pattern(const Config& config, const std::vector<Variant>& variants) {
  const PositionalConfig& positional = config.positional;
  require<ConfigError>(
      positional.pattern.empty() ||
          std::ranges::any_of(
              variants, [](const Variant& variant) { return !variant.changes.contains("positional.kind"); }),
      "compare: positional.layers.pattern is {}, and every variant names the one kind that it "
      "has in all layers; give the pattern in a [[compare.variant]]",
      positional.pattern);
}

/// Whether the models of a cell can be made, before the first of them is trained.
void check_models(const Cell& cell) {
  for (const CellEvaluation& evaluation : cell.evaluations) {
    try {
      Transformer::parameter_count(model_plan(evaluation.config));
    } catch (const ConfigError& error) {
      const bool trained = evaluation.name == trained_evaluation;
      fail<ConfigError>("compare: variant \"{}\"{}: {}", cell.variant,
                        trained ? "" : fmt::format(" under \"{}\"", evaluation.name), error.what());
    }
  }
}

}  // namespace

std::string Cell::folder_name() const { return fmt::format("{}-seed{}", variant, seed); }
std::string Cell::label() const { return fmt::format("{}, seed {}", variant, seed); }

std::vector<Cell> plan_cells(const ResolvedConfig& config) {
  const std::vector<Variant> variants = all_variants(config.config);
  const std::vector<Variant>& evaluations = config.config.compare.evaluations;
  require<ConfigError>(!variants.empty(),
                       "compare: there is nothing to compare; give compare.encodings or [[compare.variant]]");
  for (const Variant& variant : variants) check_variant(variant);
  check_pattern(config.config, variants);
  for (const Variant& evaluation : evaluations) {
    require<ConfigError>(evaluation.name != trained_evaluation,
                         "compare: an evaluation of \"{}\" is named \"{}\", which is the name of the model "
                         "as it was trained; give it another",
                         evaluation.of, evaluation.name);
  }

  std::vector<Cell> cells;
  for (Index k = 0; k < config.config.compare.seeds; ++k) {
    for (const Variant& variant : variants) {
      Cell cell;
      cell.variant = variant.name;
      cell.seed = config.config.train.seed + static_cast<std::uint64_t>(k);
      cell.config.origins = config.origins;
      cell.config.config = with_variant(config.config, variant);
      cell.config.config.train.seed = cell.seed;
      // A cell is one run: the variants of the comparison need not fit its configuration.
      cell.config.config.compare.variants.clear();
      cell.config.config.compare.evaluations.clear();
      for (const auto& [key, value] : variant.changes)
        cell.config.origins[key] = fmt::format("variant {}", variant.name);
      if (k > 0) cell.config.origins["train.seed"] = "compare.seeds";
      cell.evaluations.push_back({trained_evaluation, cell.config.config});
      for (const Variant& evaluation : evaluations) {
        if (evaluation.of != variant.name) continue;
        cell.evaluations.push_back({evaluation.name, with_variant(cell.config.config, evaluation)});
        require_changeable(cell.config.config, cell.evaluations.back().config,
                           fmt::format("compare: evaluation \"{}\"", evaluation.name));
      }
      if (k == 0) check_models(cell);
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

}  // namespace tapeline

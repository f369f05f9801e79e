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
void check_models(const Cell& cell, const std::vector<Variant>& evaluations) {
  for (const CellEvaluation& evaluation : cell.evaluations) {
    try {
      Transformer::parameter_count(model_plan(evaluation.config));
    } catch (const ConfigError& error) {
      const auto given = std::ranges::find(evaluations, evaluation.name, &Variant::name);
      const std::string under =
          given == evaluations.end() ? std::string() : fmt::format(" under {}", called("evaluation", *given));
      fail<ConfigError>("compare: variant \"{}\"{}: {}", cell.variant, under, error.what());
    }
  }
}

}  // namespace

std::string series_name(const std::string& variant, const std::string& evaluation) {
  return evaluation == trained_evaluation ? variant : fmt::format("{}, {}", variant, evaluation);
}

std::string Cell::folder_name() const {
  if (part == CellPart::whole) return fmt::format("{}-seed{}", variant, seed);
  return fmt::format("{}-lr{}-seed{}", variant, rate_multiple, seed);
}

std::string Cell::label() const {
  if (part == CellPart::whole) return fmt::format("{}, seed {}", variant, seed);
  return fmt::format("{}, {} lr, seed {}", variant, rate_multiple, seed);
}

std::filesystem::path cell_folder(const std::filesystem::path& comparison, const Cell& cell) {
  return comparison / "cells" / cell.folder_name();
}

std::vector<Cell> plan_cells(const ResolvedConfig& config) {
  const std::vector<Variant> variants = all_variants(config.config);
  const std::vector<Variant>& evaluations = config.config.compare.evaluations;
  require<ConfigError>(!variants.empty(),
                       "compare: there is nothing to compare; give compare.encodings or [[compare.variant]]");
  for (const Variant& variant : variants) check_variant(variant);
  check_pattern(config.config, variants);
  std::vector<std::vector<std::string>> of;  // each evaluation's variants
  for (const Variant& evaluation : evaluations) {
    require<ConfigError>(evaluation.name != trained_evaluation,
                         "compare: {} has the name of the model as it was trained; give it another",
                         called("evaluation", evaluation));
    of.push_back(evaluated_variants(config.config, variants, evaluation));
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
      cell.config.config.compare.sweep.clear();
      for (const auto& [key, value] : variant.changes)
        cell.config.origins[key] = fmt::format("variant {}", variant.name);
      if (k > 0) cell.config.origins["train.seed"] = "compare.seeds";
      cell.evaluations.push_back({trained_evaluation, cell.config.config});
      for (std::size_t i = 0; i < evaluations.size(); ++i) {
        if (std::ranges::find(of[i], variant.name) == of[i].end()) continue;
        cell.evaluations.push_back(
            {evaluations[i].name, with_evaluation(cell.config.config, evaluations[i])});
      }
      if (k == 0) check_models(cell, evaluations);
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

}  // namespace tapeline

#include "experiments/compare/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/error.h"

namespace tapeline {
namespace {

void check_name(const std::string& name, std::string_view what) {
  const bool plain =
      !name.empty() && name.front() != '.' && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '+';
      });
  require<ConfigError>(plain,
                       "compare: {} \"{}\" becomes the name of a folder; use letters, digits and . _ - + "
                       "without a dot in front",
                       what, name);
}

/// An evaluation may change what can be changed after training: [positional] only.
void check_evaluation(const Variant& evaluation, const Config& trained, const Config& changed) {
  for (const ConfigDifference& difference : config_difference(trained, changed)) {
    require<ConfigError>(difference.key.starts_with("positional.") && difference.key != "positional.kind",
                         "compare: evaluation \"{}\" sets {}; a trained model can only be evaluated under "
                         "other options of [positional], not another kind",
                         evaluation.name, difference.key);
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
  require<ConfigError>(config.config.compare.seeds >= 1, "compare: compare.seeds is {}; expected at least 1",
                       config.config.compare.seeds);

  std::set<std::string> names;
  for (const Variant& variant : variants) {
    check_name(variant.name, "variant");
    require<ConfigError>(names.insert(variant.name).second,
                         "compare: two variants are named \"{}\"; give each a name of its own", variant.name);
  }
  std::set<std::pair<std::string, std::string>> evaluated;
  for (const Variant& evaluation : evaluations) {
    check_name(evaluation.name, "evaluation");
    require<ConfigError>(names.contains(evaluation.of),
                         "compare: evaluation \"{}\" is of \"{}\", which is no variant of this comparison",
                         evaluation.name, evaluation.of);
    require<ConfigError>(
        evaluation.name != trained_evaluation && evaluated.emplace(evaluation.of, evaluation.name).second,
        "compare: two evaluations of \"{}\" are named \"{}\"; give each a name of its own", evaluation.of,
        evaluation.name);
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
      for (const auto& [key, value] : variant.changes)
        cell.config.origins[key] = fmt::format("variant {}", variant.name);
      if (k > 0) cell.config.origins["train.seed"] = "compare.seeds";
      cell.evaluations.push_back({trained_evaluation, cell.config.config});
      for (const Variant& evaluation : evaluations) {
        if (evaluation.of != variant.name) continue;
        cell.evaluations.push_back({evaluation.name, with_variant(cell.config.config, evaluation)});
        check_evaluation(evaluation, cell.config.config, cell.evaluations.back().config);
      }
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

}  // namespace tapeline

#include "experiments/commands/compare_budget.h"

#include <fmt/format.h>

#include <cmath>

#include "core/counted.h"
#include "core/error.h"
#include "core/excerpt.h"
#include "experiments/compare/budget.h"
#include "experiments/duration.h"
#include "train/log.h"

namespace tapeline {
namespace {

constexpr std::string_view budget_flag = "--budget";

std::string origin_of(const std::string& budget) { return fmt::format("{} {}", budget_flag, budget); }

/// A time as the flag takes it, rounded up.
std::string enough(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f}s", std::ceil(seconds / 5) * 5);
  if (seconds < 7200) return fmt::format("{:.0f}m", std::ceil(seconds / 60));
  return fmt::format("{:.0f}h", std::ceil(seconds / 3600));
}

void set(ResolvedConfig& config, const BudgetChoice& choice, const std::string& origin) {
  assign(config, {"compare.seeds", fmt::format("{}", choice.seeds), origin});
  assign(config, {"train.steps", fmt::format("{}", choice.steps), origin});
}

}  // namespace

bool take_earlier_choice(ResolvedConfig& config, const RunFolder& run, const std::string& budget) {
  if (!run.holds_run()) return false;
  const std::string origin = run.origins()["train.steps"];
  require<ConfigError>(origin.starts_with(origin_of("")),
                       "{} {}: \"{}\" holds a comparison that was begun without {}; leave it out to go on, "
                       "or choose another folder with --out",
                       budget_flag, excerpt(budget), run.path().string(), budget_flag);
  const std::string earlier = origin.substr(origin_of("").size());
  require<ConfigError>(parse_duration(earlier, budget_flag) == parse_duration(budget, budget_flag),
                       "{} {}: \"{}\" was begun with {}, and what was chosen then stands; give that again to "
                       "go on, or choose another folder with --out",
                       budget_flag, excerpt(budget), run.path().string(), excerpt(origin));
  const Config present = run.stored_config(StoredFor::comparison).config;
  set(config, {present.compare.seeds, present.train.steps, 0}, origin);
  return true;
}

void choose_for_budget(ResolvedConfig& config, const std::string& budget, Index fewest_steps,
                       const Corpus& corpus) {
  const Layout layout = lay_out(config, corpus.store.size(), corpus.tokenizer->size());
  const auto speeds = measure_speeds(layout, variant_names(layout), corpus.store, *corpus.tokenizer);
  require<ConfigError>(speeds.has_value(),
                       "{} {}: a model of this size does not fit this machine's memory; give a smaller one",
                       budget_flag, budget);
  const BudgetLimits limits{config.config.compare.seeds, config.config.train.steps, fewest_steps};
  const BudgetChoice choice = fit_budget(parse_duration(budget, budget_flag),
                                         comparison_cost(config.config, layout, *speeds), limits);
  require<ConfigError>(choice.seeds > 0,
                       "{} {}: one seed of {}, the least to compare by, takes about {} here; give {} {}, "
                       "fewer variants or smaller models",
                       budget_flag, budget, counted(limits.least_steps(), "step"),
                       rough_duration(choice.seconds), budget_flag,
                       enough(1.1 * choice.seconds));  // a second measurement differs a little
  set(config, choice, origin_of(budget));
  const std::string chosen = fmt::format("{} {}: {} of {}", budget_flag, budget,
                                         counted(choice.seeds, "seed"), counted(choice.steps, "step"));
  const bool all = choice.seeds == limits.seeds && choice.steps == limits.steps;
  spdlog::info("{}, {}; about {}", chosen,
               all ? std::string("all that was asked for")
                   : fmt::format("of {} of {}", counted(limits.seeds, "seed"), limits.steps),
               rough_duration(choice.seconds));
  if (choice.steps < std::min(fewest_steps, limits.steps)) {
    spdlog::warn("{}; with fewer than {} encodings hardly differ yet: give more time or fewer variants",
                 chosen, fewest_steps);
  }
}

}  // namespace tapeline

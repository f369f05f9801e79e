#include "experiments/claims/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/compare/plain_variant.h"
#include "experiments/compare/plan.h"
#include "train/config_loader.h"
#include "train/config_text.h"

namespace tapeline {
namespace {

bool same_place(const EvaluationCell& wanted, const EvaluationCell& cell) {
  return cell.protocol == wanted.protocol && cell.length == wanted.length && cell.subset == wanted.subset &&
         (wanted.stride == 0 || cell.stride == wanted.stride);
}

std::string seeds_text(const Estimate& estimate) {
  return estimate.count == 1 ? std::string("one seed") : fmt::format("{} seeds", estimate.count);
}

}  // namespace

bool is_unsettled(const Estimate& quantity, const ClaimQuestion& question) {
  const double half = quantity.count > 1 ? quantity.half_width : 0;
  return quantity.mean - half < question.bound && question.bound < quantity.mean + half;
}

ClaimVerdict trained_verdict(const Estimate& quantity, const ClaimQuestion& question) {
  if (is_unsettled(quantity, question)) return ClaimVerdict::not_at_this_scale;
  const bool holds =
      question.side == ClaimSide::below ? quantity.mean <= question.bound : quantity.mean >= question.bound;
  if (holds) return ClaimVerdict::is_true;
  return question.supported_elsewhere ? ClaimVerdict::not_at_this_scale : ClaimVerdict::is_false;
}

ClaimFinding trained_finding(const Estimate& quantity, const ClaimQuestion& question, std::string figure) {
  if (quantity.count == 0 || !std::isfinite(quantity.mean)) {
    return lacking("no seed has a finite loss at both of what is compared");
  }
  if (is_unsettled(quantity, question)) figure += "; these seeds do not settle it";
  return {trained_verdict(quantity, question), std::move(figure)};
}

ClaimFinding lacking(std::string what) { return {ClaimVerdict::needs_comparison, std::move(what)}; }

std::vector<std::string> plain_variants(const Comparison& comparison, std::string_view kind) {
  std::vector<std::string> names;
  for (const Variant& variant : all_variants(comparison.config)) {
    const bool trained =
        std::ranges::find(comparison.cells, variant.name, &FinishedCell::variant) != comparison.cells.end();
    const bool of_kind = with_variant(comparison.config, variant).positional.name() == kind;
    if (trained && of_kind && is_plain(comparison.config, variant)) names.push_back(variant.name);
  }
  return names;
}

bool uses_context(const Comparison& comparison, std::string_view variant) {
  constexpr double least_gain = 0.1;
  std::vector<double> gains;
  for (const FinishedCell& cell : comparison.cells) {
    if (cell.variant != variant) continue;
    const EvaluationResult* result = cell.record.find(
        trained_evaluation,
        {.protocol = Protocol::nonoverlapping, .length = cell.train_length, .stride = cell.train_length});
    if (result == nullptr || result->positions.empty() || !std::isfinite(result->tail_nll)) continue;
    gains.push_back(result->positions.front().nll - result->tail_nll);
  }
  return gains.empty() || estimate(gains).mean >= least_gain;
}

std::optional<std::string> plain_variant(const Comparison& comparison, std::string_view kind) {
  for (const std::string& name : plain_variants(comparison, kind)) {
    if (uses_context(comparison, name)) return name;
  }
  return std::nullopt;
}

ClaimFinding lacking_plain(const Comparison& comparison, std::string_view kind) {
  return lacking(plain_variants(comparison, kind).empty()
                     ? fmt::format("no plain {} model in this comparison", kind)
                     : fmt::format("plain {} has hardly learned here to use what stands before", kind));
}

std::vector<std::string> evaluations_that_set(const Comparison& comparison, std::string_view section,
                                              std::string_view key, std::string_view value) {
  std::vector<std::string> names;
  for (const Variant& evaluation : comparison.config.compare.evaluations) {
    const auto set = evaluation.changes.find(std::string(key));
    const bool only = std::ranges::all_of(
        evaluation.changes, [&](const auto& change) { return change.first.starts_with(section); });
    if (only && set != evaluation.changes.end() && set->second == toml_string(std::string(value))) {
      names.push_back(evaluation.name);
    }
  }
  return names;
}

Index trained_length_of(const Comparison& comparison, std::string_view variant) {
  const auto cell = std::ranges::find(comparison.cells, variant, &FinishedCell::variant);
  return cell == comparison.cells.end() ? 0 : cell->train_length;
}

BySeed losses(const Comparison& comparison, std::string_view variant, std::string_view evaluation,
              const EvaluationCell& cell) {
  BySeed found;
  for (const FinishedCell& finished : comparison.cells) {
    if (finished.variant != variant) continue;
    for (const RecordedResult& recorded : finished.record.results) {
      const EvaluationResult& result = recorded.result;
      const bool there = recorded.evaluation == evaluation && same_place(cell, result.cell);
      if (there && result.status == "ok") found.emplace(finished.seed, result.nll);
    }
  }
  return found;
}

BySeed losses_at(const Comparison& comparison, std::string_view variant, Index length,
                 std::string_view evaluation) {
  return losses(comparison, variant, evaluation, {.protocol = Protocol::nonoverlapping, .length = length});
}

std::vector<Index> evaluated_lengths(const Comparison& comparison, std::string_view variant,
                                     std::string_view evaluation) {
  std::set<Index> lengths;
  for (const FinishedCell& finished : comparison.cells) {
    if (finished.variant != variant) continue;
    for (const RecordedResult& recorded : finished.record.results) {
      const EvaluationCell& cell = recorded.result.cell;
      if (recorded.evaluation == evaluation && cell.on_whole_set() && recorded.result.status == "ok")
        lengths.insert(cell.length);
    }
  }
  return {lengths.begin(), lengths.end()};
}

Index longest_common(const std::vector<Index>& one, const std::vector<Index>& other, Index trained,
                     Index most) {
  Index longest = 0;
  for (const Index length : one) {
    const bool in_both = std::ranges::find(other, length) != other.end();
    if (in_both && length > trained && length <= most * trained) longest = std::max(longest, length);
  }
  return longest;
}

Estimate paired_ratio(const BySeed& one, const BySeed& other) {
  std::vector<double> ratios;
  for (const auto& [seed, value] : one) {
    if (const auto beside = other.find(seed); beside != other.end()) ratios.push_back(value / beside->second);
  }
  return estimate(ratios);
}

std::string nats_text(const Estimate& difference) {
  const std::string interval = difference.count > 1 ? fmt::format(" ±{:.3f}", difference.half_width) : "";
  return fmt::format("{:+.3f}{} nats a token (perplexity × {:.3f}), {}", difference.mean, interval,
                     std::exp(difference.mean), seeds_text(difference));
}

std::string ratio_text(const Estimate& ratio) {
  const std::string interval = ratio.count > 1 ? fmt::format(" ±{:.3f}", ratio.half_width) : "";
  return fmt::format("{:.3f}{}, {}", ratio.mean, interval, seeds_text(ratio));
}

}  // namespace tapeline

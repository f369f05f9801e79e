#include "experiments/criteria/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/compare/plain_variant.h"
#include "train/config_loader.h"
#include "train/flops.h"
#include "train/residual.h"

namespace tapeline {
namespace {

std::string label(const FinishedCell& cell) { return fmt::format("{}, seed {}", cell.variant, cell.seed); }

std::string describe(const EvaluationCell& cell) {
  if (cell.protocol == Protocol::sliding)
    return fmt::format("in sliding windows of {}, stride {}", cell.length, cell.stride);
  return fmt::format("in non-overlapping windows of {}{}", cell.length,
                     cell.subset ? " on the sliding subset" : "");
}

/// Of a token in the text that was scored.
double tokens_a_byte(const EvaluationResult& result) {
  return static_cast<double>(result.scored_tokens) / static_cast<double>(result.scored_bytes);
}

}  // namespace

Index Encoding::length(double times) const {
  const double tokens = times * static_cast<double>(train_length);
  return tokens == std::floor(tokens) ? static_cast<Index>(tokens) : 0;
}

Measured Encoding::loss(const EvaluationCell& cell) const {
  if (variant.empty()) return nothing_measured(absent);
  Measured measured;
  Measured::Term term;
  std::string refused;
  for (const FinishedCell* model : cells) {
    const EvaluationResult* result = model->record.find(trained_evaluation, cell);
    if (result == nullptr) continue;
    if (result->status == "refused") {
      refused = fmt::format("{} refuses windows of {}", variant, cell.length);
    } else if (model->record.training == "diverged") {
      measured.left_out.push_back(fmt::format("{}, diverged in training", label(*model)));
    } else if (result->status != "ok") {
      measured.left_out.push_back(fmt::format("{}, diverged {}", label(*model), describe(cell)));
    } else {
      term.weight = tokens_a_byte(*result);
      term.blocks[model->seed] = result->segments;
      measured.values[model->seed] = result->nll * term.weight;
      measured.tokens = result->scored_tokens;
    }
  }
  if (!measured.values.empty()) {
    measured.terms.push_back(std::move(term));
  } else if (!measured.left_out.empty()) {
    measured.missing = "no model is left";
  } else {
    measured.missing =
        refused.empty() ? fmt::format("{} was not evaluated {}", variant, describe(cell)) : refused;
  }
  return measured;
}

Measured Encoding::loss(Index window) const {
  return loss(EvaluationCell{Protocol::nonoverlapping, window, window, false});
}

Measured Encoding::loss_at(double times) const { return loss(length(times)); }

Measured Encoding::tail_at(double times) const {
  const Index at = length(times);
  Measured measured = loss(at);
  measured.terms.clear();  // the losses of the tails alone are not kept by segment
  for (const FinishedCell* model : cells) {
    if (!measured.values.contains(model->seed)) continue;
    const EvaluationResult& result =
        *model->record.find(trained_evaluation, {Protocol::nonoverlapping, at, at, false});
    measured.values[model->seed] = result.tail_nll * tokens_a_byte(result);
  }
  return measured;
}

Measured Encoding::log_ratio(double times) const { return loss_at(times) - loss_at(1); }

Measured Encoding::full_history() const {
  return loss(EvaluationCell{Protocol::sliding, train_length, 1, true});
}

Measured Encoding::log_sliding_ratio(double times) const {
  const Index at = length(times);
  Index stride = 0;
  for (const FinishedCell* model : cells) {
    for (const RecordedResult& recorded : model->record.results) {
      const EvaluationCell& cell = recorded.result.cell;
      const bool there = recorded.evaluation == trained_evaluation && cell.protocol == Protocol::sliding &&
                         cell.length == at;
      // With the stride as long as the window nothing has more history than side by side.
      if (there && cell.stride < at) stride = std::max(stride, cell.stride);
    }
  }
  if (!variant.empty() && stride == 0)
    return nothing_measured(fmt::format("{} was not evaluated in sliding windows of {}", variant, at));
  return loss(EvaluationCell{Protocol::sliding, at, stride, true}) - full_history();
}

Measured Encoding::log_tail_ratio(double times) const { return tail_at(times) - tail_at(1); }

Measured Encoding::subset_loss_at(double times) const {
  const Index at = length(times);
  return loss(EvaluationCell{Protocol::nonoverlapping, at, at, true});
}

Measured Encoding::early_token_gap() const { return subset_loss_at(1) - full_history(); }

Measured Encoding::residual_at(double times) const {
  const Measured longer = subset_loss_at(times);
  if (!longer.missing.empty()) return longer;
  // Models are scored on the same segments, whatever their seed.
  const double share = share_of_gap(longer.terms.front().blocks.begin()->second, train_length, length(times));
  return longer - curse_only_loss(full_history(), subset_loss_at(1), share);
}

Measured Encoding::log_training_speed() const {
  if (variant.empty()) return nothing_measured(absent);
  Measured measured;
  for (const FinishedCell* model : cells) {
    if (model->record.training == "diverged") {
      measured.left_out.push_back(fmt::format("{}, diverged in training", label(*model)));
    } else if (model->record.tokens_per_second > 0) {
      measured.values[model->seed] = std::log(model->record.tokens_per_second);
    }
  }
  if (measured.values.empty())
    measured.missing = fmt::format("there is no speed of the training of {}", variant);
  return measured;
}

Evidence::Evidence(const Comparison& comparison) : comparison_(comparison) {
  for (const Variant& variant : all_variants(comparison.config)) {
    if (!is_plain(comparison.config, variant)) continue;
    const Config config = with_variant(comparison.config, variant);
    Encoding encoding;
    encoding.kind = config.positional.name();
    encoding.variant = variant.name;
    encoding.train_length = config.train.length;
    encoding.training_work =
        token_flops(config.model, config.data.vocabulary, config.train.length, config.positional.keys)
            .training();
    for (const FinishedCell& cell : comparison.cells) {
      if (cell.variant == variant.name) encoding.cells.push_back(&cell);
    }
    if (!encoding.cells.empty()) encodings_.push_back(std::move(encoding));
  }
}

Encoding Evidence::find(std::string_view kind, Index train_length) const {
  const Encoding* first = nullptr;
  for (const Encoding& encoding : encodings_) {
    if (encoding.kind != kind || (train_length != 0 && encoding.train_length != train_length)) continue;
    if (encoding.variant == kind) return encoding;
    if (first == nullptr) first = &encoding;
  }
  if (first != nullptr) return *first;
  Encoding absent;
  absent.kind = kind;
  absent.absent =
      fmt::format("there is no {}{}", kind,
                  train_length == 0 ? std::string() : fmt::format(" trained at {}", train_length));
  return absent;
}

std::vector<Encoding> Evidence::core() const {
  std::vector<Encoding> found;
  for (const char* kind : {"learned", "sinusoidal", "rope", "alibi"}) {
    Encoding encoding = find(kind);
    if (!encoding.variant.empty()) found.push_back(std::move(encoding));
  }
  return found;
}

std::vector<Encoding> Evidence::by_trained_length(std::string_view kind) const {
  std::vector<Encoding> found;
  for (const Encoding& encoding : encodings_) {
    if (encoding.kind != kind) continue;
    const bool known =
        std::ranges::find(found, encoding.train_length, &Encoding::train_length) != found.end();
    if (!known) found.push_back(encoding);
  }
  std::ranges::sort(found, {}, &Encoding::train_length);
  return found;
}

}  // namespace tapeline

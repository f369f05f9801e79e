#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/token_store.h"
#include "data/tokenizer.h"
#include "experiments/compare/layout.h"

namespace tapeline {

/// How fast this machine trains and evaluates the models of one variant.
struct VariantSpeed {
  double step_seconds = 0;  ///< a step of training, the optimizer included
  /// A floating-point operation of evaluation, as Workload weighs them.
  double operation_seconds = 0;
};

/// By variant.
using VariantSpeeds = std::map<std::string, VariantSpeed>;

/// Times a few training steps and two short evaluations of each of these variants of a comparison, untrained:
/// about a second a variant. Nothing when a model would not fit this machine. Polls signals (throws Stopped).
std::optional<VariantSpeeds> measure_speeds(const Layout& layout, const std::vector<std::string>& variants,
                                            const TokenStore& store, const Tokenizer& tokenizer);
/// The names of the variants of a layout, each once.
std::vector<std::string> variant_names(const Layout& layout);

/// Seconds of a whole comparison, or of what is left of it.
struct ComparisonTime {
  double training = 0, evaluation = 0;
  double total() const { return training + evaluation; }
  ComparisonTime& operator+=(const ComparisonTime& other);
};

/// What cell number `cell` takes from its beginning.
ComparisonTime cell_time(const Layout& layout, std::size_t cell, const VariantSpeeds& speeds);
ComparisonTime whole_time(const Layout& layout, const VariantSpeeds& speeds);

}  // namespace tapeline

#pragma once

#include <string>
#include <vector>

#include "experiments/report/tables.h"

namespace tapeline {

/// The keys of the configuration that the trained variants differ in, in the order of the key table. An
/// option of an encoding counts only between variants that use it; train.seed and what only says how a run is
/// computed and saved are no differences.
std::vector<std::string> varying_keys(const Config& config);

/// Every variant with its value of each varying key, and every [[compare.evaluation]] below its variant with
/// what it changes. Where the variants differ in positional.kind alone and are named by it, only those that
/// have such evaluations; without rows when none has.
ReportTable variants_table(const Comparison& comparison);

/// Where variants have positional settings that are not the default ones and no column of variants_table()
/// shows them: "learned: beyond = \"clamp\"", one for each kind.
std::vector<std::string> positional_settings(const Config& config);

/// What the evaluations of [[compare.evaluation]] change: "Behind a comma, … : ntk: rope.scaling = "ntk"; …";
/// empty when there are none.
std::string evaluations_text(const Config& config);

/// What makes the variants of one seed comparable, and what does not: the same initial weights, the same
/// batches, as far as their settings allow.
std::string pairing_text(const Config& config);

/// The values a setting has over all variants: "64", "64 or 128"; whole numbers with their commas.
std::string setting_values(const Config& config, std::string_view key);

/// What a variant is called in headings: "encoding" where the variants are the encodings themselves.
std::string variant_word(const Config& config);

/// How a sentence speaks of a series: its commas are those between the names of a list.
std::string spoken(const Series& series);

}  // namespace tapeline

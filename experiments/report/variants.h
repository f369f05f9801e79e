#pragma once

#include <string>
#include <vector>

#include "experiments/report/tables.h"

namespace tapeline {

/// A key of the configuration that the variants of a comparison do not all agree in, with each one's value as
/// a reader says it, in the order of the variants.
struct VaryingKey {
  std::string name;
  std::vector<std::string> values;  ///< "–" for an option of another encoding than the variant's
};

/// What the trained variants differ in, in the order of the key table; train.seed is no difference.
std::vector<VaryingKey> varying_keys(const Config& config);

/// Every variant with its value of each varying key, and every [[compare.evaluation]] below its variant with
/// what it changes. Without rows where the variants differ in positional.kind alone and are named by it.
ReportTable variants_table(const Comparison& comparison);

/// What makes the variants of one seed comparable, and what does not: the same initial weights, the same
/// batches, as far as their settings allow.
std::string pairing_text(const Config& config);

/// The values a setting has over all variants: "64", "64 or 128"; whole numbers with their commas.
std::string setting_values(const Config& config, std::string_view key);

/// What a variant is called in headings: "encoding" where the variants are the encodings themselves.
std::string variant_word(const Config& config);

}  // namespace tapeline

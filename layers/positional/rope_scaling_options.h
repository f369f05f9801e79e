#pragma once

#include <vector>

#include "layers/option.h"
#include "layers/positional/rope_scaling.h"

namespace tapeline {

/// The keys of positional.rope that say how it is scaled: "scaling", "factor", … All of them can be changed
/// on a trained model.
std::vector<OptionField> rope_scaling_fields();

/// Of these the ones that a scaling ("yarn") looks at, beside its own choice.
std::vector<std::string_view> options_of_scaling(std::string_view scaling);

/// What those keys ask for, of a model trained at `train_length` that rotates `pairs` pairs of a head. Throws
/// ConfigError for values out of range, lists of another length than `pairs` or that fall, and keys that
/// belong to another scaling than the chosen one.
RopeScaling read_rope_scaling(const OptionValues& options, Index train_length, Index pairs);

}  // namespace tapeline

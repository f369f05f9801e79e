#pragma once

#include <string>

#include "experiments/inspect/listing.h"

namespace tapeline {

/// What a checkpoint is, for people: format, positions, parameters, state of training, tokenizer, the config
/// with the origin of each value (only what somebody set, or `whole`), and the losses as a small curve.
/// `width` 0: no limit.
std::string summary_text(const Listing& listing, bool whole, std::size_t width);

}  // namespace tapeline

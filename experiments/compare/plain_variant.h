#pragma once

#include "train/config.h"

namespace tapeline {

/// Whether the models of a variant can speak for its kind of encoding in `comparison`: none of its options,
/// no score scale, no window and no randomized positions are set, one kind is in all layers, and everything
/// else is as in the whole comparison, but perhaps the trained length and what is evaluated.
bool is_plain(const Config& comparison, const Variant& variant);

}  // namespace tapeline

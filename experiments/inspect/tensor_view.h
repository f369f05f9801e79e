#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "experiments/inspect/listing.h"

namespace tapeline {

/// One dataset in full. `slice`: the values that are shown, as parse_slice() takes it; empty: a corner of a
/// tensor.
struct TensorView {
  const Hdf5Reader& file;
  const ListedDataset& dataset;
  std::string slice;
};

/// What it is, its statistics, values in full precision, and the histogram with edges and counts. Texts are
/// shown as they are. Throws ConfigError for a slice that does not fit or has more than a million values.
std::string tensor_text(const TensorView& view, std::size_t width);
/// The same for programs; values only where a slice is given.
nlohmann::ordered_json tensor_json(const TensorView& view);

}  // namespace tapeline

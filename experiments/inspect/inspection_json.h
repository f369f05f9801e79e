#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "experiments/inspect/listing.h"

namespace tapeline {

/// One dataset: names, shape, type, attributes, and its statistics where there are some. What is no finite
/// number is null.
nlohmann::ordered_json dataset_json(const ListedDataset& dataset);

/// A whole listing, with these of its datasets.
nlohmann::ordered_json listing_json(const Listing& listing, const std::vector<ListedDataset*>& datasets);

}  // namespace tapeline

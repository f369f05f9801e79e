#pragma once

#include <string>
#include <vector>

#include "experiments/inspect/listing.h"

namespace tapeline {

/// What tables of datasets can be ordered by: "file" (as written), "name", "size", "mean", ….
const std::vector<std::string>& sort_keys();

/// Orders by one of sort_keys(): names from a to z, numbers from the largest down, those that have none last.
void sort_datasets(std::vector<ListedDataset*>& datasets, const std::string& key);

/// "[256, 128]"; "scalar".
std::string shape_text(const DatasetShape& shape);
/// "f32", "text".
std::string type_text(const DatasetShape& shape);

/// One line a dataset with what is known of its values, as a tree of groups with their sums, or flat with
/// full names. Where the width (0: no limit) does not hold every column, the less telling ones are left out.
std::string tree_text(const std::vector<ListedDataset*>& datasets, bool flat, std::size_t width);

}  // namespace tapeline

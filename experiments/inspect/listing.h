#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/hdf5_reader.h"
#include "experiments/inspect/statistics.h"
#include "experiments/inspect/stored_config.h"
#include "train/history.h"

namespace tapeline {

/// Names with values, in the order of the file.
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// "0.5", "true", "rope".
std::string attribute_text(const AttributeValue& value);

/// One dataset of a file, as a listing shows it.
struct ListedDataset {
  std::string path;     ///< "/model/blocks/0/attention/query/weight"
  std::string name;     ///< without the "/model/" or "/optimizer/" in front; of other datasets the path
  DatasetShape shape;   ///< if it can be read
  std::string trouble;  ///< why it cannot be read; empty: it can
  Attributes attributes;
  std::optional<Statistics> statistics;  ///< once they were asked for; never of texts

  bool is_tensor() const { return trouble.empty() && !shape.text; }
  Index bytes() const { return is_tensor() ? shape.count() * number_type_size(shape.type) : 0; }
  /// The attribute of that name if it is a text; else empty.
  std::string label(const std::string& attribute) const;
};

/// All that a checkpoint holds but the values of its tensors. What this program does not know, as in the file
/// of a later version, is listed like the rest; what is not there is empty.
struct Listing {
  std::string file;
  Index bytes = 0;     ///< of the HDF5 file
  std::string sha256;  ///< of the same
  Attributes root;
  std::vector<StoredKey> config;
  std::string config_trouble;  ///< why it cannot be read; empty: it can
  Attributes state;            ///< every single value outside model, optimizer and config, by its path
  std::vector<HistoryEntry> losses, validation_losses;
  Attributes optimizer_state;
  std::vector<ListedDataset> model, optimizer, other;

  /// From `state`: as text; empty when it is not there.
  std::string value(std::string_view path) const;
  /// All tables and lists of datasets: model, optimizer, other.
  std::vector<ListedDataset*> datasets();
};

/// One dataset by its path, without statistics.
ListedDataset read_dataset(const Hdf5Reader& file, const std::string& path);

Listing read_listing(const Hdf5Reader& file, const std::string& sha256, Index bytes);

/// Parameters, and the bytes they take.
Index count_numbers(const std::vector<ListedDataset>& datasets);
Index count_bytes(const std::vector<ListedDataset>& datasets);

}  // namespace tapeline

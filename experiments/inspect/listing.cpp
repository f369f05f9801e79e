#include "experiments/inspect/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "experiments/inspect/dataset_reading.h"
#include "train/checkpoint_layout.h"
#include "train/config_text.h"

namespace tapeline {
namespace {

/// Datasets that have a place of their own in a listing.
constexpr std::string_view config_values = "/config/resolved", config_origins = "/config/origin";
constexpr std::array history = {"/history/steps", "/history/losses", "/history/validation_steps",
                                "/history/validation_losses"};

bool is_below(std::string_view path, std::string_view group) {
  return path.size() > group.size() + 1 && path.starts_with(group) && path[group.size()] == '/';
}

Attributes read_attributes(const Hdf5Reader& file, const std::string& path) {
  Attributes found;
  for (const std::string& name : file.attribute_names(path)) {
    try {
      found.emplace_back(name, file.attribute(path, name));
    } catch (const FileError&) {
      found.emplace_back(name, std::string("(of a type that this program does not read)"));
    }
  }
  return found;
}

ListedDataset list(const Hdf5Reader& file, const std::string& path, std::string_view group) {
  ListedDataset dataset{
      .path = path, .name = path, .shape = {}, .trouble = {}, .attributes = {}, .statistics = {}};
  if (!group.empty()) dataset.name = path.substr(group.size() + 1);
  try {
    dataset.shape = file.shape(path);
    dataset.attributes = read_attributes(file, path);
  } catch (const FileError& error) {
    dataset.trouble = error.what();
  }
  return dataset;
}

AttributeValue read_scalar(const Hdf5Reader& file, const std::string& path, const DatasetShape& shape) {
  if (shape.text) return file.text(path);
  return with_number_type(shape.type, [&]<class T>(T) -> AttributeValue {
    const T value = file.number<T>(path);
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(value);
    else if constexpr (std::is_signed_v<T>)
      return std::int64_t{value};
    else
      return std::uint64_t{value};
  });
}

std::vector<double> read_row(const Hdf5Reader& file, const std::string& path) {
  if (!file.contains(path)) return {};
  const DatasetShape shape = file.shape(path);
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  file.read_part(path, Slab::whole(shape.extents), std::span<double>(values));
  return values;
}

std::vector<HistoryEntry> read_history(const Hdf5Reader& file, const std::string& steps_path,
                                       const std::string& values_path) {
  const std::vector<double> steps = read_row(file, steps_path), values = read_row(file, values_path);
  std::vector<HistoryEntry> entries;
  for (std::size_t i = 0; i < std::min(steps.size(), values.size()); ++i)
    entries.push_back({static_cast<Index>(steps[i]), values[i]});
  return entries;
}

void read_config(const Hdf5Reader& file, Listing& listing) {
  if (!file.contains(config_values)) {
    listing.config_trouble = "the file holds none";
    return;
  }
  try {
    const std::string origins = file.contains(config_origins) ? file.text(config_origins) : "";
    listing.config = read_stored_config(file.text(config_values), origins,
                                        fmt::format("{}:{}", file.name(), config_values));
  } catch (const FileError& error) {
    listing.config_trouble = error.what();
  }
}

}  // namespace

std::string attribute_text(const AttributeValue& value) {
  return std::visit(
      []<class T>(const T& held) {
        if constexpr (std::is_same_v<T, std::string>)
          return held;
        else if constexpr (std::is_same_v<T, bool>)
          return std::string(held ? "true" : "false");
        else
          return fmt::format("{}", held);
      },
      value);
}

std::string ListedDataset::label(const std::string& attribute) const {
  for (const auto& [found, value] : attributes) {
    if (found == attribute && std::holds_alternative<std::string>(value)) return std::get<std::string>(value);
  }
  return {};
}

std::string Listing::value(std::string_view path) const {
  for (const auto& [name, value] : state) {
    if (name == path) return attribute_text(value);
  }
  return {};
}

std::vector<ListedDataset*> Listing::datasets() {
  std::vector<ListedDataset*> all;
  for (auto* list : {&model, &optimizer, &other}) {
    for (ListedDataset& dataset : *list) all.push_back(&dataset);
  }
  return all;
}

ListedDataset read_dataset(const Hdf5Reader& file, const std::string& path) { return list(file, path, ""); }

Listing read_listing(const Hdf5Reader& file, const std::string& sha256, Index bytes) {
  Listing listing{.file = file.name(),
                  .bytes = bytes,
                  .sha256 = sha256,
                  .root = read_attributes(file, "/"),
                  .config = {},
                  .config_trouble = {},
                  .state = {},
                  .losses = {},
                  .validation_losses = {},
                  .optimizer_state = {},
                  .model = {},
                  .optimizer = {},
                  .other = {}};
  for (const std::string& path : file.datasets("/")) {
    if (is_below(path, checkpoint_layout::model)) {
      listing.model.push_back(list(file, path, checkpoint_layout::model));
    } else if (is_below(path, checkpoint_layout::optimizer)) {
      listing.optimizer.push_back(list(file, path, checkpoint_layout::optimizer));
    } else if (path != config_values && path != config_origins &&
               std::ranges::find(history, path) == history.end()) {
      ListedDataset dataset = list(file, path, "");
      if (dataset.trouble.empty() && dataset.shape.extents.empty()) {
        listing.state.emplace_back(path, read_scalar(file, path, dataset.shape));
      } else {
        listing.other.push_back(std::move(dataset));
      }
    }
  }
  if (file.contains(checkpoint_layout::optimizer))
    listing.optimizer_state = read_attributes(file, std::string(checkpoint_layout::optimizer));
  read_config(file, listing);
  listing.losses = read_history(file, history[0], history[1]);
  listing.validation_losses = read_history(file, history[2], history[3]);
  return listing;
}

Index count_numbers(const std::vector<ListedDataset>& datasets) {
  Index total = 0;
  for (const ListedDataset& dataset : datasets) total += dataset.is_tensor() ? dataset.shape.count() : 0;
  return total;
}

Index count_bytes(const std::vector<ListedDataset>& datasets) {
  Index total = 0;
  for (const ListedDataset& dataset : datasets) total += dataset.bytes();
  return total;
}

}  // namespace tapeline

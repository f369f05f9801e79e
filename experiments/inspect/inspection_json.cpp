#include "experiments/inspect/inspection_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/inspect/tree_text.h"

namespace tapeline {
namespace {

using Json = nlohmann::ordered_json;

Json attribute_json(const AttributeValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json attributes_json(const Attributes& attributes) {
  Json json = Json::object();
  for (const auto& [name, value] : attributes) json[name] = attribute_json(value);
  return json;
}

Json statistics_json(const Statistics& found) {
  return {{"mean", found.mean},
          {"sd", found.sd},
          {"min", found.min},
          {"max", found.max},
          {"norm", found.norm},
          {"nan", found.nan},
          {"inf", found.infinite},
          {"zeros", found.zero},
          {"histogram", {{"edges", found.histogram.edges}, {"counts", found.histogram.counts}}}};
}

Json history_json(const std::vector<HistoryEntry>& entries) {
  Json json = {{"steps", Json::array()}, {"losses", Json::array()}};
  for (const HistoryEntry& entry : entries) {
    json["steps"].push_back(entry.step);
    json["losses"].push_back(entry.value);
  }
  return json;
}

Json config_json(const Listing& listing) {
  Json json = Json::object();
  for (const StoredKey& key : listing.config) {
    json[key.name] = {{"value", Json::parse(key.json)},
                      {"origin", key.origin.empty() ? Json() : Json(key.origin)}};
  }
  return json;
}

Json config_value(const Listing& listing, std::string_view name) {
  const StoredKey* key = find_stored(listing.config, name);
  return key == nullptr ? Json() : Json::parse(key->json);
}

bool is_of(const std::vector<ListedDataset>& group, const ListedDataset* dataset) {
  return !group.empty() && dataset >= group.data() && dataset < group.data() + group.size();
}

}  // namespace

Json dataset_json(const ListedDataset& dataset) {
  Json json = {{"name", dataset.name}, {"path", dataset.path}};
  if (!dataset.trouble.empty()) {
    json["trouble"] = dataset.trouble;
    return json;
  }
  json["shape"] = dataset.shape.extents;
  json["type"] = type_text(dataset.shape);
  if (dataset.is_tensor()) json["bytes"] = dataset.bytes();
  json["attributes"] = attributes_json(dataset.attributes);
  if (dataset.statistics) json["statistics"] = statistics_json(*dataset.statistics);
  return json;
}

Json listing_json(const Listing& listing, const std::vector<ListedDataset*>& datasets) {
  Json json = {{"file", listing.file},
               {"bytes", listing.bytes},
               {"sha256", listing.sha256},
               {"attributes", attributes_json(listing.root)},
               {"positional_kind", config_value(listing, "positional.kind")},
               {"train_length", config_value(listing, "train.length")},
               {"parameters", count_numbers(listing.model)}};
  json["state"] = attributes_json(listing.state);
  json["config"] = config_json(listing);
  if (!listing.config_trouble.empty()) json["config_trouble"] = listing.config_trouble;
  json["history"] = {{"training", history_json(listing.losses)},
                     {"validation", history_json(listing.validation_losses)}};
  json["tied"] = Json::array();
  for (const ListedDataset& tensor : listing.model) {
    const std::string tied = tensor.label("tied_to");
    if (!tied.empty()) json["tied"].push_back({{"tensor", tensor.name}, {"also", tied}});
  }
  json["tensors"] = Json::array();
  json["optimizer"] = {{"attributes", attributes_json(listing.optimizer_state)}, {"tensors", Json::array()}};
  json["other"] = Json::array();
  for (const ListedDataset* dataset : datasets) {
    Json& list = is_of(listing.model, dataset)       ? json["tensors"]
                 : is_of(listing.optimizer, dataset) ? json["optimizer"]["tensors"]
                                                     : json["other"];
    list.push_back(dataset_json(*dataset));
  }
  return json;
}

}  // namespace tapeline

#include "train/stored_kinds.h"

#include <algorithm>
#include <set>
#include <string>

namespace tapeline {
namespace {

using Kinds = std::span<const std::string_view>;

bool is_one_of(const toml::node& node, Kinds kinds) {
  const auto name = node.value_exact<std::string>();
  return name && std::ranges::find(kinds, *name) != kinds.end();
}

/// Whether a variant is of one of these kinds, in some layer.
bool is_of(const toml::table& variant, Kinds kinds) {
  const toml::node* kind = variant.at_path("positional.kind").node();
  if (kind != nullptr && is_one_of(*kind, kinds)) return true;
  const toml::array* pattern = variant.at_path("positional.layers.pattern").as_array();
  return pattern != nullptr &&
         std::ranges::any_of(*pattern, [&](const toml::node& one) { return is_one_of(one, kinds); });
}

/// Removes the sections that belong to these kinds.
void drop_sections(toml::table& positional, Kinds kinds) {
  for (const std::string_view kind : kinds) positional.erase(kind);
}

/// Removes from the `of` of an evaluation what is dropped. Returns whether nothing is left: all of it was, or
/// it is of every model that has the keys of its changes, and some of these are of the kinds.
bool lost_its_models(toml::table& evaluation, Kinds kinds, const std::set<std::string>& dropped) {
  if (toml::array* of = evaluation["of"].as_array()) {
    for (auto at = of->begin(); at != of->end();)
      at = dropped.contains(at->value_or(std::string())) ? of->erase(at) : at + 1;
    return of->empty();
  }
  if (evaluation.contains("of")) return dropped.contains(evaluation["of"].value_or(std::string()));
  const toml::table* positional = evaluation["positional"].as_table();
  return positional != nullptr &&
         std::ranges::any_of(kinds, [&](std::string_view kind) { return positional->contains(kind); });
}

/// [[compare.variant]] and [[compare.evaluation]]: those that set one of the kinds, and what is `of` them.
void drop_variants(toml::table& compare, const char* list, Kinds kinds, std::set<std::string>& dropped) {
  toml::array* variants = compare[list].as_array();
  const bool evaluations = std::string_view(list) == "evaluation";
  if (variants == nullptr) return;
  for (auto at = variants->begin(); at != variants->end();) {
    toml::table* variant = at->as_table();
    if (variant == nullptr) {
      ++at;
      continue;
    }
    const std::string name = (*variant)["name"].value_or(std::string());
    if (is_of(*variant, kinds) || (evaluations && lost_its_models(*variant, kinds, dropped))) {
      dropped.insert(name);
      at = variants->erase(at);
      continue;
    }
    if (toml::table* positional = (*variant)["positional"].as_table()) drop_sections(*positional, kinds);
    ++at;
  }
}

}  // namespace

void drop_left_out(toml::table& table, Kinds left_out) {
  if (left_out.empty()) return;
  if (toml::table* positional = table["positional"].as_table()) drop_sections(*positional, left_out);
  toml::table* compare = table["compare"].as_table();
  if (compare == nullptr) return;
  std::set<std::string> dropped;
  if (toml::array* encodings = (*compare)["encodings"].as_array()) {
    for (auto at = encodings->begin(); at != encodings->end();) {
      if (!is_one_of(*at, left_out)) {
        ++at;
        continue;
      }
      dropped.insert(at->value_or(std::string()));
      at = encodings->erase(at);
    }
  }
  drop_variants(*compare, "variant", left_out, dropped);
  drop_variants(*compare, "evaluation", left_out, dropped);
}

}  // namespace tapeline

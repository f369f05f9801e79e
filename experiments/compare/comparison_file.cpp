#include "experiments/compare/comparison_file.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "experiments/compare/sealed_json.h"

namespace tapeline {
namespace {

using Json = nlohmann::ordered_json;

ComparisonFacts facts_of(const Json& json) {
  const Json& source = json.at("text");
  ComparisonFacts facts;
  facts.command = json.at("command");
  facts.share = parse_share(json.at("cells").get<std::string>(), "cells");
  facts.text_source = source.at("source");
  facts.text_digest = source.at("digest");
  facts.text_tokens = source.at("tokens");
  facts.scored_tokens = json.at("scored_tokens");
  facts.threads = json.at("threads");
  return facts;
}

}  // namespace

std::filesystem::path comparison_file(const std::filesystem::path& folder) {
  return folder / "comparison.json";
}

std::string facts_text(const ComparisonFacts& facts) {
  const Json json = {
      {"command", facts.command},
      {"cells", facts.share.text()},
      {"text", {{"source", facts.text_source}, {"digest", facts.text_digest}, {"tokens", facts.text_tokens}}},
      {"scored_tokens", facts.scored_tokens},
      {"threads", facts.threads}};
  return sealed_json(json);
}

ComparisonFacts parse_facts(const std::string& text, const std::string& place) {
  if (auto found = read_sealed_json(text, facts_of)) return *std::move(found);
  fail<FileError>(
      "compare: \"{}\" is not as compare wrote it there; put it back as it was, or remove it to go on "
      "without what it tells",
      place);
}

std::optional<ComparisonFacts> read_facts(const std::filesystem::path& folder) {
  const std::filesystem::path file = comparison_file(folder);
  std::error_code error;
  if (std::filesystem::status(file, error).type() == std::filesystem::file_type::not_found) return {};
  return parse_facts(read_file(file), file.string());
}

void write_facts(const std::filesystem::path& folder, const ComparisonFacts& facts) {
  write_file(comparison_file(folder), facts_text(facts));
}

}  // namespace tapeline

#include "experiments/compare/cell_record.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "train/metrics.h"

namespace tapeline {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.get<std::string>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

Json result_json(const RecordedResult& recorded) {
  const EvaluationResult& result = recorded.result;
  Json positions = Json::array();
  for (const PositionBin& bin : result.positions) {
    positions.push_back({bin.first, bin.last, bin.tokens, json_number(bin.nll)});
  }
  Json segments = Json::array();
  for (const SegmentLoss& segment : result.segments) {
    segments.push_back({json_number(segment.total), segment.tokens});
  }
  return {{"evaluation", recorded.evaluation},
          {"protocol", result.cell.protocol == Protocol::sliding ? "sliding" : "nonoverlapping"},
          {"length", result.cell.length},
          {"stride", result.cell.stride},
          {"subset", result.cell.subset},
          {"status", result.status},
          {"reason", result.reason},
          {"scored_tokens", result.scored_tokens},
          {"scored_bytes", result.scored_bytes},
          {"nll", json_number(result.nll)},
          {"bits_per_byte", json_number(result.bits_per_byte)},
          {"perplexity", json_number(result.perplexity)},
          {"tail_nll", json_number(result.tail_nll)},
          {"tokens_per_second", json_number(result.tokens_per_second)},
          {"short_windows", result.short_windows},
          {"positions", std::move(positions)},
          {"segments", std::move(segments)}};
}

RecordedResult parse_result(const Json& json) {
  RecordedResult recorded;
  recorded.evaluation = json.at("evaluation");
  EvaluationResult& result = recorded.result;
  result.cell.protocol = parse_protocol(json.at("protocol"));
  result.cell.length = json.at("length");
  result.cell.stride = json.at("stride");
  result.cell.subset = json.at("subset");
  result.status = json.at("status");
  result.reason = json.at("reason");
  result.scored_tokens = json.at("scored_tokens");
  result.scored_bytes = json.at("scored_bytes");
  result.nll = number(json.at("nll"));
  result.bits_per_byte = number(json.at("bits_per_byte"));
  result.perplexity = number(json.at("perplexity"));
  result.tail_nll = number(json.at("tail_nll"));
  result.tokens_per_second = number(json.at("tokens_per_second"));
  result.short_windows = json.at("short_windows");
  for (const Json& bin : json.at("positions")) {
    result.positions.push_back({bin.at(0), bin.at(1), bin.at(2), number(bin.at(3))});
  }
  for (const Json& segment : json.at("segments")) {
    result.segments.push_back({number(segment.at(0)), segment.at(1)});
  }
  return recorded;
}

}  // namespace

const EvaluationResult* CellRecord::find(const std::string& evaluation, const EvaluationCell& cell) const {
  for (const RecordedResult& recorded : results) {
    const EvaluationCell& known = recorded.result.cell;
    if (recorded.evaluation == evaluation && known.protocol == cell.protocol && known.length == cell.length &&
        known.stride == cell.stride && known.subset == cell.subset) {
      return &recorded.result;
    }
  }
  return nullptr;
}

std::filesystem::path record_file(const std::filesystem::path& cell_folder) {
  return cell_folder / "result.json";
}

std::string record_text(const CellRecord& record) {
  Json results = Json::array();
  for (const RecordedResult& recorded : record.results) results.push_back(result_json(recorded));
  const Json json = {{"training", record.training},
                     {"reason", record.reason},
                     {"corpus_digest", record.corpus_digest},
                     {"parameters", record.parameters},
                     {"training_loss", json_number(record.training_loss)},
                     {"tokens_per_second", json_number(record.tokens_per_second)},
                     {"complete", record.complete},
                     {"results", std::move(results)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

CellRecord parse_record(const std::string& text, const std::string& place) {
  try {
    const Json json = Json::parse(text);
    CellRecord record;
    record.training = json.at("training");
    record.reason = json.at("reason");
    record.corpus_digest = json.at("corpus_digest");
    record.parameters = json.at("parameters");
    record.training_loss = number(json.at("training_loss"));
    record.tokens_per_second = number(json.at("tokens_per_second"));
    record.complete = json.at("complete");
    for (const Json& result : json.at("results")) record.results.push_back(parse_result(result));
    return record;
  } catch (const std::exception&) {
    fail<FileError>(
        "compare: \"{}\" is not the record of a cell that compare keeps there; remove the file to "
        "evaluate this cell again",
        place);
  }
}

CellRecord read_record(const std::filesystem::path& cell_folder) {
  const std::filesystem::path file = record_file(cell_folder);
  std::error_code error;
  if (std::filesystem::status(file, error).type() == std::filesystem::file_type::not_found) return {};
  return parse_record(read_file(file), file.string());
}

void write_record(const std::filesystem::path& cell_folder, const CellRecord& record) {
  write_file(record_file(cell_folder), record_text(record));
}

}  // namespace tapeline

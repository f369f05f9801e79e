#include "experiments/compare/cell_record.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "experiments/compare/sealed_json.h"
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

Json bin_json(const PositionBin& bin) { return {bin.first, bin.last, bin.tokens, json_number(bin.nll)}; }

PositionBin parse_bin(const Json& json) { return {json.at(0), json.at(1), json.at(2), number(json.at(3))}; }

Json result_json(const RecordedResult& recorded) {
  const EvaluationResult& result = recorded.result;
  Json positions = Json::array();
  for (const PositionBin& bin : result.positions) {
    positions.push_back(bin_json(bin));
  }
  Json segments = Json::array();
  for (const SegmentLoss& segment : result.segments) {
    segments.push_back({json_number(segment.total), segment.tokens});
  }
  Json tenths = Json::array();
  for (const PositionBin& bin : {result.early, result.late}) tenths.push_back(bin_json(bin));
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
          {"tail_tokens", result.tail_tokens},
          {"tokens_per_second", json_number(result.tokens_per_second)},
          {"short_windows", result.short_windows},
          {"positions", std::move(positions)},
          {"tenths", std::move(tenths)},
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
  for (const Json& bin : json.at("positions")) result.positions.push_back(parse_bin(bin));
  result.early = parse_bin(json.at("tenths").at(0));
  result.late = parse_bin(json.at("tenths").at(1));
  result.tail_tokens = json.at("tail_tokens");
  for (const Json& segment : json.at("segments")) {
    result.segments.push_back({number(segment.at(0)), segment.at(1)});
  }
  return recorded;
}

Json probe_json(const RecordedProbe& recorded) {
  const ProbeResult& result = recorded.result;
  Json figures = Json::array();
  for (const ProbeFigure& figure : result.figures) {
    figures.push_back(
        {figure.quantity, figure.span, figure.layer, figure.head, figure.tokens, json_number(figure.value)});
  }
  return {{"evaluation", recorded.evaluation}, {"probe", result.probe},   {"length", result.length},
          {"status", result.status},           {"reason", result.reason}, {"figures", std::move(figures)}};
}

RecordedProbe parse_probe(const Json& json) {
  RecordedProbe recorded;
  recorded.evaluation = json.at("evaluation");
  ProbeResult& result = recorded.result;
  result.probe = json.at("probe");
  result.length = json.at("length");
  result.status = json.at("status");
  result.reason = json.at("reason");
  for (const Json& figure : json.at("figures")) {
    result.figures.push_back(
        {figure.at(0), figure.at(1), figure.at(2), figure.at(3), figure.at(4), number(figure.at(5))});
  }
  return recorded;
}

CellRecord record_of(const Json& json) {
  CellRecord record;
  record.training = json.at("training");
  record.reason = json.at("reason");
  record.corpus_digest = json.at("corpus_digest");
  record.parameters = json.at("parameters");
  record.training_loss = number(json.at("training_loss"));
  record.tokens_per_second = number(json.at("tokens_per_second"));
  record.threads = json.at("threads");
  record.complete = json.at("complete");
  for (const Json& result : json.at("results")) record.results.push_back(parse_result(result));
  for (const Json& probe : json.at("probes")) record.probes.push_back(parse_probe(probe));
  return record;
}

}  // namespace

const ProbeResult* CellRecord::find_probe(const std::string& evaluation, const std::string& probe,
                                          Index length) const {
  for (const RecordedProbe& recorded : probes) {
    if (recorded.evaluation == evaluation && recorded.result.probe == probe &&
        recorded.result.length == length) {
      return &recorded.result;
    }
  }
  return nullptr;
}

std::vector<EvaluationResult> CellRecord::results_of(const std::string& evaluation) const {
  std::vector<EvaluationResult> found;
  for (const RecordedResult& recorded : results) {
    if (recorded.evaluation == evaluation) found.push_back(recorded.result);
  }
  return found;
}

const EvaluationResult* CellRecord::find(const std::string& evaluation, const EvaluationCell& cell) const {
  for (const RecordedResult& recorded : results) {
    if (recorded.evaluation == evaluation && recorded.result.cell == cell) return &recorded.result;
  }
  return nullptr;
}

std::filesystem::path record_file(const std::filesystem::path& cell_folder) {
  return cell_folder / "result.json";
}

std::string record_text(const CellRecord& record) {
  Json results = Json::array();
  for (const RecordedResult& recorded : record.results) results.push_back(result_json(recorded));
  Json probes = Json::array();
  for (const RecordedProbe& recorded : record.probes) probes.push_back(probe_json(recorded));
  const Json json = {{"training", record.training},
                     {"reason", record.reason},
                     {"corpus_digest", record.corpus_digest},
                     {"parameters", record.parameters},
                     {"training_loss", json_number(record.training_loss)},
                     {"tokens_per_second", json_number(record.tokens_per_second)},
                     {"threads", record.threads},
                     {"complete", record.complete},
                     {"results", std::move(results)},
                     {"probes", std::move(probes)}};
  return sealed_json(json);
}

CellRecord parse_record(const std::string& text, const std::string& place) {
  if (auto found = read_sealed_json(text, record_of)) return *std::move(found);
  fail<FileError>(
      "compare: \"{}\" is not the record of a cell as compare wrote it there; remove the file to evaluate "
      "this cell again",
      place);
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

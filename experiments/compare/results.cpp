#include "experiments/compare/results.h"

#include <fmt/format.h>

#include <cmath>

namespace tapeline {
namespace {

std::string identity(const ResultRow& row) {
  return fmt::format("{},{},{},{},{},{},{}", csv_field(row.name), csv_field(row.kind),
                     csv_field(row.evaluation), row.seed, row.train_length, row.result.cell.protocol_name(),
                     row.result.cell.length);
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_number(double value) { return std::isnan(value) ? std::string() : fmt::format("{}", value); }

std::string results_csv(const std::vector<ResultRow>& rows) {
  std::string text =
      "name,kind,evaluation,seed,train_length,protocol,eval_length,stride,scored_tokens,scored_bytes,status,"
      "nll,bits_per_byte,perplexity,tail_nll,tokens_per_second\n";
  for (const ResultRow& row : rows) {
    const EvaluationResult& r = row.result;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", identity(row), r.cell.stride, r.scored_tokens,
                        r.scored_bytes, r.status, csv_number(r.nll), csv_number(r.bits_per_byte),
                        csv_number(r.perplexity), csv_number(r.tail_nll),
                        r.status == "ok" ? fmt::format("{:.0f}", r.tokens_per_second) : std::string());
  }
  return text;
}

std::string positions_csv(const std::vector<ResultRow>& rows) {
  std::string text =
      "name,kind,evaluation,seed,train_length,protocol,eval_length,position_first,position_last,"
      "scored_tokens,nll\n";
  for (const ResultRow& row : rows) {
    for (const PositionBin& bin : row.result.positions) {
      text += fmt::format("{},{},{},{},{}\n", identity(row), bin.first, bin.last, bin.tokens,
                          csv_number(bin.nll));
    }
  }
  return text;
}

}  // namespace tapeline

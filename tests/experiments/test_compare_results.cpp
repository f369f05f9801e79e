#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/compare/cell_record.h"
#include "experiments/compare/results.h"
#include "tests/experiments/comparison_samples.h"
#include "tests/support/lines.h"

namespace tapeline {
namespace {

TEST_CASE("results.csv has the columns of the contract, one line a cell, evaluation, protocol and length") {
  const Comparison comparison = test::sample_comparison(1);
  const std::vector<std::string> lines = test::lines_of(results_csv(result_rows(comparison.cells)));
  REQUIRE(lines.size() == 7);
  CHECK(lines[0] ==
        "name,kind,evaluation,seed,train_length,protocol,eval_length,stride,scored_tokens,scored_bytes,"
        "status,nll,"
        "bits_per_byte,perplexity,tail_nll,tokens_per_second");
  CHECK(lines[1].starts_with("rope,rope,trained,0,64,nonoverlapping,64,64,1000,1000,ok,1.6,2.308"));
  CHECK(lines[1].ends_with(",1.7000000000000002,12345"));
  CHECK(lines[3].starts_with("rope,rope,trained,0,64,nonoverlapping_subset,64,64,100,100,ok,"));
  CHECK(lines[4].starts_with("rope,rope,trained,0,64,sliding,64,32,100,100,ok,"));
  CHECK(lines[6] == "learned,learned,trained,0,64,nonoverlapping,128,128,0,0,refused,,,,,");
  const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  for (const std::string& line : lines) CHECK(commas(line) == 15);
}

TEST_CASE("results.csv: numbers read back to the same bits, names are quoted where they must be") {
  CHECK(std::stod(csv_number(0.1 + 0.2)) == 0.1 + 0.2);
  CHECK(csv_number(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(csv_number(std::nan("")).empty());
  CHECK(csv_field("rope") == "rope");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"x\"") == "\"say \"\"x\"\"\"");
}

TEST_CASE("positions.csv holds the bins of the non-overlapping evaluations") {
  const Comparison comparison = test::sample_comparison(1);
  const std::vector<std::string> lines = test::lines_of(positions_csv(result_rows(comparison.cells)));
  CHECK(lines[0] ==
        "name,kind,evaluation,seed,train_length,protocol,eval_length,position_first,position_last,scored_"
        "tokens,nll");
  CHECK(lines[1] == "rope,rope,trained,0,64,nonoverlapping,64,1,1,10,2.1");
  CHECK(lines.size() == 1 + 7 + 8 + 7);
}

TEST_CASE("a cell's record survives its file bit for bit, what is no number included") {
  CellRecord record = test::sample_comparison(1).cells.front().record;
  record.reason = "step 3: the loss is nan \xff";  // not UTF-8: must not end the program
  record.training_loss = std::nan("");
  record.results[0].result.perplexity = std::numeric_limits<double>::infinity();
  record.results[0].result.nll = 0.1 + 0.2;
  record.results.push_back({"ntk", test::refused_result({Protocol::sliding, 128, 1, true})});
  const CellRecord back = parse_record(record_text(record), "result.json");
  CHECK(back.training == "done");
  CHECK(back.complete);
  CHECK(back.parameters == record.parameters);
  CHECK(std::isnan(back.training_loss));
  REQUIRE(back.results.size() == record.results.size());
  CHECK(back.results[0].result.nll == record.results[0].result.nll);
  CHECK(std::isinf(back.results[0].result.perplexity));
  CHECK(back.results[0].result.positions.size() == 7);
  CHECK(back.results[0].result.segments[1].tokens == 500);
  CHECK(back.results.back().result.status == "refused");
  CHECK(record_text(back) == record_text(parse_record(record_text(back), "again")));
  CHECK(back.find("trained", {Protocol::sliding, 64, 32, true}) != nullptr);
  CHECK(back.find("trained", {Protocol::sliding, 64, 1, true}) == nullptr);
  CHECK(back.find("ntk", {Protocol::sliding, 128, 1, true}) != nullptr);
}

TEST_CASE("a damaged record is an error that names the file") {
  CHECK_THROWS_AS(parse_record("{\"training\": ", "cells/rope-seed0/result.json"), FileError);
  CHECK_THROWS_WITH_AS(parse_record("{}", "cells/x/result.json"), doctest::Contains("cells/x/result.json"),
                       FileError);
}

}  // namespace
}  // namespace tapeline

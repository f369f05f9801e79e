#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

/// Every benchmark as someone at a shell sees it; $model is one layer of width 16 with two heads.
namespace tapeline::test {
namespace {

// Linear layers and head of one token: 16 x 48, 16 x 16, twice 16 x 64, 16 x 256.
constexpr double token_operations = 2 * (768 + 256 + 2048 + 4096);

nlohmann::ordered_json measured(const Shell& shell, const std::string& words) {
  const Ran ran = shell("$tapeline bench " + words + " $model --repeats 1 --quiet --json");
  CAPTURE(words);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(ran.err.empty());
  return nlohmann::ordered_json::parse(ran.out);
}

std::vector<std::string> keys(const nlohmann::ordered_json& json) {
  std::vector<std::string> names;
  for (const auto& [name, value] : json.items()) names.push_back(name);
  return names;
}

double number(const nlohmann::ordered_json& json, const std::string& key) {
  CAPTURE(key);
  REQUIRE(json.at(key).is_number());
  return json.at(key).get<double>();
}

double operations(const nlohmann::ordered_json& json, const std::string& rate = "gflops",
                  const std::string& seconds = "seconds") {
  return 1e9 * number(json, rate) * number(json, seconds);
}

TEST_CASE("bench attention: rates, floor and best product by length") {
  const Shell shell;
  const nlohmann::ordered_json json = measured(shell, "attention --lengths 16,2.5x");
  CHECK(json["threads"] == 1);
  CHECK(json["heads"] == 2);
  CHECK(json["head_width"] == 8);
  REQUIRE(json["lengths"].size() == 2);
  const double best = number(json, "best_gemm_gflops");
  for (const auto& [length, sequences] : std::vector<std::pair<int, int>>{{16, 512}, {40, 204}}) {
    const nlohmann::ordered_json& line = json["lengths"][length == 16 ? 0 : 1];
    CHECK(line["length"] == length);
    CHECK(line["sequences"] == sequences);
    const double product = 2.0 * (length * (length + 1) / 2) * 16 * sequences;
    CHECK(operations(line, "forward_gflops", "forward_seconds") / product == doctest::Approx(2));
    CHECK(operations(line, "backward_gflops", "backward_seconds") / product == doctest::Approx(5));
    CHECK(operations(line) / product == doctest::Approx(7));
    CHECK(number(line, "floor_seconds") * number(line, "floor_ratio") / number(line, "seconds") ==
          doctest::Approx(1));
    CHECK(best * number(line, "best_gemm_ratio") / number(line, "gflops") == doctest::Approx(1));
  }
  const nlohmann::ordered_json alone = measured(shell, "attention --lengths 16 --no-floor");
  CHECK(alone["lengths"][0]["floor_seconds"].is_null());
  CHECK(alone["lengths"][0]["floor_ratio"].is_null());
  const nlohmann::ordered_json window =
      measured(shell, "attention --lengths 40 --set positional.keys.window=8");
  CHECK(operations(window["lengths"][0]) / (14.0 * (36 + 32 * 8) * 16 * 204) == doctest::Approx(1));
}

TEST_CASE("bench attention: the score terms of the encoding" * needs({"alibi"})) {
  const Shell shell;
  for (const char* learned : {"false", "true"}) {
    const nlohmann::ordered_json json =
        measured(shell, fmt::format("attention --lengths 16 --no-floor --set positional.kind=alibi "
                                    "--set positional.alibi.learned={}",
                                    learned));
    CHECK(json["encoding"] == "alibi");
    CHECK(number(json["lengths"][0], "gflops") > 0);
  }
}

TEST_CASE("bench gemm: every product by every choice, and what the rule loses") {
  const Shell shell;
  const nlohmann::ordered_json json = measured(shell, "gemm");
  REQUIRE(json["products"].size() == 15);
  double rule = 0, fastest = 0, flops = 0;
  for (const nlohmann::ordered_json& product : json["products"]) {
    int picked = 0;
    for (const nlohmann::ordered_json& choice : product["choices"]) {
      CHECK(operations(choice) / number(product, "flops") == doctest::Approx(1));
      if (!choice["rule"].get<bool>()) continue;
      ++picked;
      CHECK(choice["seconds"] == product["rule_seconds"]);
    }
    CHECK(picked == 1);
    CHECK(number(product, "rule_loss") >= 0);
    rule += number(product, "count") * number(product, "rule_seconds");
    fastest += number(product, "count") * number(product, "fastest_seconds");
    flops += number(product, "count") * number(product, "flops");
  }
  CHECK(flops == 64 * 3 * token_operations);
  CHECK(rule / number(json, "rule_seconds") == doctest::Approx(1));
  CHECK(fastest / number(json, "fastest_seconds") == doctest::Approx(1));
  CHECK((1 + number(json, "rule_loss")) * fastest / rule == doctest::Approx(1));
}

TEST_CASE("bench evaluate: its keys; operations, floor and memory of a window") {
  const Shell shell;
  const nlohmann::ordered_json json = measured(shell, "evaluate --lengths 40,2000");
  CHECK(keys(json) == std::vector<std::string>{"threads", "repeats", "lengths"});
  REQUIRE(json["lengths"].size() == 2);
  const nlohmann::ordered_json &small = json["lengths"][0], &large = json["lengths"][1];
  CHECK(keys(large) == std::vector<std::string>{"length", "seconds", "tokens_per_second", "gflops",
                                                "floor_seconds", "floor_ratio", "peak_bytes"});
  CHECK(large["length"] == 2000);
  CHECK(operations(small) / (40 * token_operations + 64 * 820) == doctest::Approx(1));
  CHECK(operations(large) / (2000 * token_operations + 64 * 2001000.0) == doctest::Approx(1));
  CHECK(number(large, "tokens_per_second") * number(large, "seconds") == doctest::Approx(2000));
  CHECK(number(large, "floor_seconds") * number(large, "floor_ratio") / number(large, "seconds") ==
        doctest::Approx(1));
  // The cache alone: keys and values of 2,000 rows.
  CHECK(number(large, "peak_bytes") > 2 * 2000 * 16 * 4);
  CHECK(number(small, "peak_bytes") > 4 * 7168);  // the weights

  const nlohmann::ordered_json alone =
      measured(shell, "evaluate --lengths 40 --no-floor --set positional.keys.window=8");
  CHECK(alone["lengths"][0]["floor_seconds"].is_null());
  CHECK(alone["lengths"][0]["floor_ratio"].is_null());
  CHECK(operations(alone["lengths"][0]) / (40 * token_operations + 64 * (36 + 32 * 8)) == doctest::Approx(1));
}

TEST_CASE("bench evaluate: with a window of keys memory does not grow with the length") {
  const Shell shell;
  const nlohmann::ordered_json json =
      measured(shell, "evaluate --lengths 3000,12000 --no-floor --set positional.keys.window=64");
  CHECK(json["lengths"][0]["peak_bytes"] == json["lengths"][1]["peak_bytes"]);
}

TEST_CASE("bench generate: tokens behind a prompt") {
  const Shell shell;
  const nlohmann::ordered_json json = measured(shell, "generate --tokens 5");
  CHECK(json["prompt_tokens"] == 16);
  CHECK(json["tokens"] == 5);
  // Four tokens after the first, from rows that see 17, 18, 19 and 20 keys.
  CHECK(operations(json, "gflops", "token_seconds") / (token_operations + 64 * (17 + 18 + 19 + 20) / 4.0) ==
        doctest::Approx(1));
  CHECK(number(json, "tokens_per_second") * number(json, "token_seconds") == doctest::Approx(1));
  CHECK(number(json, "floor_seconds") * number(json, "floor_ratio") / number(json, "token_seconds") ==
        doctest::Approx(1));
  CHECK(number(json, "prompt_seconds") > 0);
  const nlohmann::ordered_json alone = measured(shell, "generate --tokens 2 --no-floor");
  CHECK(alone["floor_seconds"].is_null());
  CHECK(alone["floor_ratio"].is_null());
}

TEST_CASE("bench step: its keys; without a floor; several encodings side by side") {
  const Shell shell;
  const nlohmann::ordered_json json = measured(shell, "step");
  for (const char* key : {"tokens_per_second", "gflops", "gemm_floor_ratio", "peak_bytes", "minor_faults"}) {
    number(json, key);
  }
  CHECK(json.contains("heap_allocations"));
  CHECK(json.contains("vendor_allocations"));
  if (!json.at("step_peak_rss_bytes").is_null()) CHECK(number(json, "step_peak_rss_bytes") > 0);
  const double pairs = 4 * 136;  // four windows of 16
  CHECK(operations(json, "gflops", "step_seconds") / (64 * 3 * token_operations + 14 * 16 * pairs) ==
        doctest::Approx(1));
  const nlohmann::ordered_json alone = measured(shell, "step --no-floor");
  CHECK(keys(alone) == keys(json));
  CHECK(alone["gemm_floor_ratio"].is_null());
  CHECK(alone["floor_seconds"].is_null());

  const std::vector<std::string> kinds = built_of({"none", "learned", "alibi"});
  const nlohmann::ordered_json list =
      measured(shell, fmt::format("step --no-floor --encodings {}", fmt::join(kinds, ",")));
  REQUIRE(list.size() == kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CHECK(list[i]["encoding"] == kinds[i]);
    CHECK(number(list[i], "step_seconds") > 0);
    for (const std::string& key : keys(json)) CHECK_MESSAGE(list[i].contains(key), key);
    if (!is_built("none"))
      CHECK(list[i]["ratio_over_none"].is_null());
    else if (kinds[i] == "none")
      CHECK(list[i]["ratio_over_none"] == 1);
    else
      CHECK(number(list[i], "ratio_over_none") > 0);
  }
}

TEST_CASE("bench step --scaling: one thread beside all, and the floors of both") {
  const Shell shell;
  const nlohmann::ordered_json json = measured(shell, "step --scaling --threads 3");
  CHECK(json.at("threads") == 3);
  CHECK(json.at("one").at("threads") == 1);
  CHECK(json.at("all").at("threads") == 3);
  const auto seconds = [&](const char* which, const char* key) { return number(json.at(which), key); };
  // Of one repeat.
  CHECK(number(json, "speedup") * seconds("all", "step_seconds") / seconds("one", "step_seconds") ==
        doctest::Approx(1));
  CHECK(number(json, "floor_speedup") * seconds("all", "floor_seconds") / seconds("one", "floor_seconds") ==
        doctest::Approx(1));
  CHECK(number(json, "share") * number(json, "floor_speedup") / number(json, "speedup") ==
        doctest::Approx(1));
  const nlohmann::ordered_json bare = measured(shell, "step --scaling --threads 2 --no-floor");
  CHECK(bare.at("share").is_null());
  check_refused(shell("$tapeline bench step --scaling --threads 1 $model"), 2, {"--scaling", "--threads"});
  check_refused(shell("$tapeline bench gemm --scaling $model"), 2, {"bench gemm has no --scaling"});
  check_refused(shell("$tapeline bench step --scaling --trace t $model"), 2, {"--scaling"});
}

TEST_CASE("bench: tables for people") {
  const Shell shell;
  for (const auto& [words, part] :
       std::vector<std::pair<std::string, std::string>>{{"attention --lengths 16", "both / best sgemm"},
                                                        {"gemm", "the rule loses"},
                                                        {"evaluate --lengths 40", "window / floor"},
                                                        {"generate --tokens 3", "token / floor"},
                                                        {"step", "step / floor"},
                                                        {"step --scaling --threads 2", "its products alone"},
                                                        {"step --encodings " + any_kind(), "over none"}}) {
    const Ran ran = shell("$tapeline bench " + words + " $model --repeats 1 --quiet");
    CAPTURE(words);
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    CHECK(contains(ran.out, part));
  }
}

TEST_CASE("bench: what nobody can measure is refused before anything is timed") {
  const Shell shell;
  const auto refused = [&](const std::string& words, const std::vector<std::string>& parts) {
    CAPTURE(words);
    check_refused(shell("$tapeline bench " + words + " $model"), 2, parts);
  };
  refused("speed", {"there is no \"speed\" to measure", "step, attention, gemm, evaluate, generate"});
  for (const char* lengths : {"0", "64,0", "64,", ",", "x", "-1", "1.5", "64;128"})
    refused(fmt::format("attention --lengths='{}'", lengths), {"--lengths"});
  refused("evaluate --lengths 0", {"--lengths: \"0\" is no length"});
  refused("attention --lengths 1099511627776", {"bench attention: length 1099511627776 takes about"});
  refused("evaluate --lengths 64,1099511627776", {"bench evaluate: length 1099511627776 takes about"});
  refused("step --lengths 64", {"bench step has no --lengths", "attention, evaluate"});
  refused("gemm --no-floor", {"bench gemm has no --no-floor"});
  refused("attention --trace t", {"bench attention has no --trace", "step"});
  refused("evaluate --tokens 3", {"bench evaluate has no --tokens", "generate"});
  refused("generate --encodings " + any_kind(), {"bench generate has no --encodings"});
  refused("generate --tokens 1", {"--tokens 1: it must be from 2"});
  refused("gemm --repeats 0", {"--repeats 0: it must be from 1"});
  refused("step --encodings " + any_kind() + " --trace t", {"--trace"});
  refused("step --encodings nothing", {"nothing"});
  refused("step --encodings nothing --dry-run", {"nothing"});
  refused("attention --lengths x --dry-run", {"--lengths"});
  refused("step --encodings " + any_kind() + "," + any_kind(), {any_kind(), "twice"});
  for (const char* what : {"step", "attention", "gemm", "evaluate", "generate"}) {
    check_refused(shell(fmt::format("$tapeline bench {} $model --set model.heads=3", what)), 2,
                  {"model.heads 3", "model.width 16"});
  }
  check_refused(shell("$tapeline bench step --trace there/is/none --dry-run $model"), 1, {"there/is/none"});
  CHECK(names_in(shell.folder()).count("t") == 0);
}

TEST_CASE("bench: a learned table ends what is evaluated and generated" * needs({"learned"})) {
  const Shell shell;
  const std::string learned = " $model --set positional.kind=learned";
  check_refused(shell("$tapeline bench evaluate --lengths 17" + learned), 2, {"row 16", "17 rows"});
  check_refused(shell("$tapeline bench generate --tokens 4" + learned), 2, {"row 16", "20 rows"});
  check_refused(shell("$tapeline bench step --encodings learned --set positional.learned.rows=4 $model"), 2,
                {"positional.learned.rows = 4"});
  const Ran longer = shell(
      "$tapeline bench generate --tokens 4 --repeats 1 --quiet"
      " --set positional.learned.rows=20" +
      learned);
  CHECK(longer.code == 0);
}

}  // namespace
}  // namespace tapeline::test

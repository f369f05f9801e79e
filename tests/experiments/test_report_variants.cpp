#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/files.h"
#include "experiments/compare/summary.h"
#include "experiments/report/answer.h"
#include "experiments/report/cost.h"
#include "experiments/report/figures.h"
#include "experiments/report/html.h"
#include "experiments/report/ratio_tables.h"
#include "experiments/report/report.h"
#include "experiments/report/variants.h"
#include "tests/experiments/comparison_samples.h"
#include "tests/support/surroundings.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text.h"

namespace tapeline {
namespace {

using test::contains;

using test::series_of;

Config with_variants(std::vector<Variant> variants) {
  Config config = test::sample_comparison(1).config;
  config.compare.variants = std::move(variants);
  return config;
}

/// rope (64) and learned (64) as in the samples, and "long": alibi trained at 128, evaluated at 128 and 256.
Comparison with_longer_variant() {
  Comparison comparison = test::sample_comparison(1);
  comparison.config.compare.variants = {
      {"long", {}, {{"positional.kind", "\"alibi\""}, {"train.length", "128"}}}};
  FinishedCell cell{"long", "alibi", 0, 128, comparison.cells[0].record};
  cell.record.results = {{"trained", test::sample_result({Protocol::nonoverlapping, 128, 128, false}, 1.5)},
                         {"trained", test::sample_result({Protocol::nonoverlapping, 256, 256, false}, 1.49)}};
  comparison.cells.push_back(cell);
  return comparison;
}

void diverge(FinishedCell& cell) {
  cell.record.training = "diverged";
  for (RecordedResult& recorded : cell.record.results) {
    recorded.result.status = "diverged";
    recorded.result.nll = recorded.result.bits_per_byte = std::nan("");
  }
}

TEST_CASE("what the variants of one seed share is said only where it holds") {
  const std::string same_weights = "Those of one seed have the same initial weights";
  const std::string same_batches = "They saw the same batches in the same order";
  const auto text_of = [](const std::string& key, const std::string& value) {
    return pairing_text(with_variants({{"other", {}, {{key, value}}}}));
  };
  const std::string plain = pairing_text(with_variants({}));
  CHECK(contains(plain, same_weights));
  CHECK(contains(plain, same_batches + "."));
  for (const auto& [key, value] : {std::pair{"model.width", "64"},
                                   {"model.layers", "2"},
                                   {"model.feed_forward", "2"},
                                   {"model.key_value_heads", "2"}}) {
    const std::string text = text_of(key, value);
    CHECK_FALSE(contains(text, same_weights));
    CHECK_MESSAGE(contains(text, std::string("They differ in ") + key), text);
    CHECK(contains(text, same_batches + "."));
  }
  for (const auto& [key, value] : {std::pair{"train.length", "32"}, {"train.tokens_per_step", "1024"}}) {
    const std::string text = text_of(key, value);
    CHECK(contains(text, same_weights));
    CHECK_FALSE(contains(text, same_batches));
    CHECK_MESSAGE(contains(text, std::string("They differ in ") + key), text);
  }
  CHECK(
      contains(text_of("train.steps", "9"), same_batches + ", those with fewer train.steps only the first"));
  for (const auto& [key, value] : {std::pair{"optimizer.lr", "0.01"}, {"positional.rope.base", "500"}}) {
    const std::string text = text_of(key, value);
    CHECK(contains(text, same_weights));
    CHECK(contains(text, same_batches + "."));
  }
}

TEST_CASE("the table of variants: every key they differ in, nothing where the name says it all") {
  Comparison comparison = test::sample_comparison(1);
  CHECK(variants_table(comparison).rows.empty());
  // An option of an encoding that a variant does not use is no difference, nor is how a run is computed.
  CHECK(varying_keys(with_variants(
            {{"other",
              {},
              {{"positional.kind", "\"alibi\""}, {"positional.rope.base", "5"}, {"train.keep", "5"}}}})) ==
        std::vector<std::string>{"positional.kind"});
  comparison.config.compare.variants = {
      {"rope-500", {}, {{"positional.kind", "\"rope\""}, {"positional.rope.base", "500"}}},
      {"wide", {}, {{"model.width", "256"}, {"positional.kind", "\"alibi\""}, {"train.steps", "1400"}}}};
  comparison.config.compare.evaluations = {{"near", {"rope-500"}, {{"positional.keys.window", "16"}}}};
  const ReportTable table = variants_table(comparison);
  const auto row = [](std::vector<std::string> cells) { return cells; };
  CHECK(table.header == row({"variant", "model.width", "positional.kind", "positional.rope.base",
                             "train.steps", "positional.keys.window"}));
  REQUIRE(table.rows.size() == 5);
  CHECK(table.rows[0] == row({"rope", "128", "rope", "10,000", "700", "0"}));
  CHECK(table.rows[1] == row({"learned", "128", "learned", "–", "700", "0"}));
  CHECK(table.rows[2] == row({"rope-500", "128", "rope", "500", "700", "0"}));
  CHECK(table.rows[3] == row({"rope-500, near", "128", "rope", "500", "700", "16"}));
  CHECK(table.rows[4] == row({"wide", "256", "alibi", "–", "1,400", "0"}));
}

TEST_CASE("a further evaluation of a model is a row, a curve and a name of its own") {
  Comparison comparison = test::sample_comparison(1);
  comparison.config.compare.evaluations = {
      {"ntk", {"rope"}, {{"positional.rope.scaling", "\"ntk\""}, {"positional.rope.factor", "\"2\""}}}};
  std::vector<RecordedResult>& results = comparison.cells[0].record.results;
  results.push_back({"ntk", test::sample_result({Protocol::nonoverlapping, 64, 64, false}, 1.62)});
  results.push_back({"ntk", test::sample_result({Protocol::nonoverlapping, 128, 128, false}, 1.66)});
  const std::vector<Series> all = series_of(comparison);
  REQUIRE(all.size() == 3);
  const ReportTable lengths = length_table(comparison, all);
  REQUIRE(lengths.rows.size() == 3);
  CHECK(lengths.rows[0] == std::vector<std::string>{"rope", "2.308", "3.030"});
  CHECK(lengths.rows[1] == std::vector<std::string>{"rope, ntk", "2.337", "2.395"});
  CHECK(contains(terminal_text(lengths, 0), "rope, ntk    2.337     2.395\n"));
  CHECK(contains(lengths.notes.back(),
                 "evaluated under other settings: ntk: rope.scaling = \"ntk\", rope.factor = \"2\"."));
  CHECK(ratio_table(comparison, all).rows[1][0] == "rope, ntk");
  const ReportTable variants = variants_table(comparison);
  CHECK(variants.header ==
        std::vector<std::string>{"encoding", "positional.rope.scaling", "positional.rope.factor"});
  REQUIRE(variants.rows.size() == 2);  // nothing of learned is evaluated otherwise
  CHECK(variants.rows[0] == std::vector<std::string>{"rope", "none", "auto"});
  CHECK(variants.rows[1] == std::vector<std::string>{"rope, ntk", "ntk", "2"});
  CHECK(training_table(comparison).rows.size() == 2);  // it was not trained
  const std::string answer = answer_text(comparison, all);
  CHECK_MESSAGE(contains(answer, "rope under ntk does best: 2.395 bits per byte, against 2.337 at 64"),
                answer);
  CHECK_MESSAGE(contains(answer, " rope goes from 2.308 to 3.030"), answer);
  const Figure figure = loss_by_length(comparison, all);
  REQUIRE(figure.curves.size() == 3);
  CHECK(figure.curves[1].name == "rope, ntk");
  CHECK(figure.curves[1].points.size() == 2);
  CHECK(contains(figure_csv(figure), "\n\"rope, ntk\",64,"));
  CHECK(contains(results_csv(result_rows(comparison.cells)), "\nrope,rope,ntk,0,64,nonoverlapping,128,128,"));
  CHECK(
      contains(positions_csv(result_rows(comparison.cells)), "\nrope,rope,ntk,0,64,nonoverlapping,128,1,1,"));
  const test::TemporaryFolder folder;
  const std::string page = read_file(write_report(comparison, folder.path()).page);
  CHECK(contains(page, "<th scope=\"row\">rope, ntk</th><td>2.337</td><td class=\"best\">2.395</td>"));
}

TEST_CASE("the page states what differs, and settings that do are not given as those of every model") {
  const test::TemporaryFolder folder;
  const test::Environment no_programs("PATH", folder.path().string());
  Comparison comparison = test::sample_comparison(1);
  const std::string plain = read_file(write_report(comparison, folder.path()).page);
  CHECK_FALSE(contains(plain, ">Variants</h2>"));
  CHECK(contains(plain, "4 layers, width 128, 4 heads; 700 steps of 2,048 bytes"));
  comparison.config.compare.variants = {{"wide", {}, {{"model.width", "256"}, {"train.steps", "1"}}}};
  const std::string page = read_file(write_report(comparison, folder.path()).page);
  CHECK(contains(page, ">Variants</h2>"));
  CHECK(contains(page, "width 128 or 256, 4 heads; 700 or 1 steps"));
  CHECK(contains(page, html_escape(pairing_text(comparison.config))));
  CHECK(contains(page, "They differ in model.width"));
}

TEST_CASE("the page says that validation text has neighbours, and twins in the King James text") {
  const test::TemporaryFolder folder;
  const test::Environment no_programs("PATH", folder.path().string());
  Comparison comparison = test::sample_comparison(1);
  comparison.config.data.source = "my text.txt";
  const std::string own = read_file(write_report(comparison, folder.path()).page);
  CHECK(contains(own, "has training text before and behind it"));
  CHECK_FALSE(contains(own, "gospels"));
  comparison.config.data.source = "kjv";
  const std::string kjv = read_file(write_report(comparison, folder.path()).page);
  CHECK(contains(kjv, "has training text before and behind it"));
  CHECK(contains(kjv, "near-duplicates of validation passages can stand in the training blocks"));
}

TEST_CASE("models that diverged are counted in the answer") {
  Comparison comparison = test::sample_comparison(3);
  CHECK_FALSE(contains(answer_text(comparison, series_of(comparison)), "diverged"));
  diverge(comparison.cells[2]);  // rope, seed 1
  const std::string one = answer_text(comparison, series_of(comparison));
  CHECK_MESSAGE(contains(one, "1 of 6 models diverged in training (rope 1 of 3) and is left out"), one);
  diverge(comparison.cells[0]);
  diverge(comparison.cells[4]);
  diverge(comparison.cells[1]);
  const std::string more = answer_text(comparison, series_of(comparison));
  CHECK_MESSAGE(contains(more, "4 of 6 models diverged in training (rope 3 of 3 and learned 1 of 3) and are"),
                more);
  CHECK(contains(more, "no encoding gives a result"));

  comparison = test::sample_comparison(3);
  EvaluationResult& result = comparison.cells[0].record.results[1].result;  // rope, seed 0, at 128
  result.status = "diverged";
  result.nll = result.bits_per_byte = std::nan("");
  const std::string late = answer_text(comparison, series_of(comparison));
  CHECK_MESSAGE(contains(late, "At 128 the loss is not a finite number for rope (1 of 3)"), late);
}

TEST_CASE("a lead is over the seeds that both have, and is none when it points the other way") {
  Comparison comparison = test::sample_comparison(3);
  for (FinishedCell& cell : comparison.cells) {  // learned goes to 128 as well, always 0.1 nats worse
    if (cell.variant != "learned") continue;
    cell.record.results[1] = cell.record.results[0];
    cell.record.results[1].result = test::sample_result({Protocol::nonoverlapping, 128, 128, false},
                                                        2.2 + 0.01 * static_cast<double>(cell.seed));
  }
  CHECK(contains(answer_text(comparison, series_of(comparison)),
                 "0.144 ±0.000 bits below learned over 3 seeds"));
  diverge(comparison.cells[0]);
  diverge(comparison.cells[2]);
  CHECK(contains(answer_text(comparison, series_of(comparison)),
                 "one seed has both this and learned, so without an interval"));
}

TEST_CASE("different trained lengths: named in answer, tables and figures, no common multiple anywhere") {
  const Comparison comparison = with_longer_variant();
  const std::vector<Series> all = series_of(comparison);
  const std::string answer = answer_text(comparison, all);
  CHECK_MESSAGE(contains(answer,
                         "Trained on windows of 64 (rope, learned) and 128 bytes (long) and evaluated "
                         "on windows of 128, the longest that all were evaluated at, long does best"),
                answer);
  CHECK_MESSAGE(contains(answer, "rope goes from 2.308 at 64 to 3.030"), answer);
  CHECK_FALSE(contains(answer, "times as long"));
  const ReportTable table = length_table(comparison, all);
  CHECK(table.header == std::vector<std::string>{"variant", "trained at", "64", "128", "256"});
  CHECK(table.rows[0] == std::vector<std::string>{"rope", "64", "2.308", "3.030", "–"});
  CHECK(table.rows[2] == std::vector<std::string>{"long", "128", "–", "2.164", "2.150"});
  CHECK(std::ranges::any_of(table.notes, [](const std::string& note) { return contains(note, "–: not"); }));
  CHECK(ratio_table(comparison, all).rows[2][1] == "128");
  CHECK(sliding_table(comparison, all).rows[0][1] == "64");
  const Figure figure = loss_by_length(comparison, all);
  CHECK(figure.mark == 0);
  CHECK(figure.curves[2].name == "long (trained at 128)");
  CHECK_FALSE(contains(figure.x_label, "times the trained length"));
}

}  // namespace
}  // namespace tapeline

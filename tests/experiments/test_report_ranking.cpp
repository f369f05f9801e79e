#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "experiments/report/answer.h"
#include "experiments/report/ranking.h"
#include "experiments/report/ratio_tables.h"
#include "experiments/report/sections/section.h"
#include "tests/experiments/comparison_samples.h"
#include "tests/support/text.h"

/// Who is said to be best where not all series have the same seeds, and how ratios are shown.
namespace tapeline {
namespace {

using test::contains;
using test::series_of;

/// The losses of one encoding at 64 and at 128, in nats a byte, seed by seed; NaN: that seed diverged.
struct Losses {
  std::string kind;
  std::vector<double> at_64, at_128;
};

Comparison comparison_of(const std::vector<Losses>& all) {
  Comparison comparison = test::sample_comparison(static_cast<Index>(all.front().at_64.size()));
  const FinishedCell like = comparison.cells.front();
  comparison.cells.clear();
  comparison.config.compare.encodings.clear();
  for (const Losses& losses : all) comparison.config.compare.encodings.push_back(losses.kind);
  for (std::size_t seed = 0; seed < all.front().at_64.size(); ++seed) {
    for (const Losses& losses : all) {
      FinishedCell cell = like;
      cell.variant = cell.kind = losses.kind;
      cell.seed = seed;
      cell.record.results.clear();
      for (const auto& [length, nll] :
           {std::pair{Index(64), losses.at_64[seed]}, {128, losses.at_128[seed]}}) {
        EvaluationResult result = test::sample_result({Protocol::nonoverlapping, length, length, false}, nll);
        if (std::isnan(nll)) {
          result.status = "diverged";
          cell.record.training = "diverged";
        }
        cell.record.results.push_back({"trained", std::move(result)});
      }
      comparison.cells.push_back(std::move(cell));
    }
  }
  return comparison;
}

const double none = std::nan("");

Ranking ranking_of(const Comparison& comparison, const std::vector<Series>& all) {
  return ranking_at(result_rows(comparison.cells), all, 128);
}
std::vector<std::string> names_of(const Ranking& ranking) {
  std::vector<std::string> names;
  for (const Series* series : ranking.order) names.push_back(series->name);
  return names;
}
using Names = std::vector<std::string>;

std::string length_page(const Comparison& comparison) {
  return length_section({comparison, result_rows(comparison.cells), series_of(comparison), {}}).body;
}

/// Seed 2 is a hard one. rope diverged under it; under the other two alibi is better.
Comparison hard_seed() {
  return comparison_of({{"rope", {1.62, 1.63, none}, {1.90, 1.92, none}},
                        {"alibi", {1.60, 1.61, 2.00}, {1.80, 1.81, 2.90}},
                        {"learned", {1.70, 1.71, 2.10}, {1.95, 1.96, 3.05}}});
}

TEST_CASE("ranking: a series that lacks a hard seed does not win by that") {
  const Comparison comparison = hard_seed();
  const std::vector<Series> all = series_of(comparison);
  // By the bare means it is rope: 1.91 against 2.17.
  REQUIRE(all[0].at(128)->nll.mean < all[1].at(128)->nll.mean);
  const Ranking ranking = ranking_of(comparison, all);
  CHECK(names_of(ranking) == Names{"alibi", "rope", "learned"});
  CHECK_FALSE(ranking.same_seeds);
  CHECK(ranking.behind[0].mean == 0);
  CHECK(ranking.behind[1].count == 2);
  CHECK(ranking.behind[1].mean == doctest::Approx(0.105 / std::numbers::ln2));
  CHECK(ranking.behind[2].count == 3);

  const std::string answer = answer_text(comparison, all);
  CHECK_MESSAGE(contains(answer, "alibi does best: 3.131 bits per byte"), answer);
  CHECK_MESSAGE(contains(answer, "(0.151 ±0.092 bits below rope over the 2 seeds that both have)"), answer);
  CHECK_MESSAGE(contains(answer, "; 0.151 above alibi on the 2 seeds that both have)"), answer);
  CHECK_MESSAGE(contains(answer, "64, alibi does best"), answer);  // at the trained length too

  const std::string page = length_page(comparison);
  CHECK_MESSAGE(contains(page, "<td class=\"best\">3.131 ±"), page);
  CHECK_FALSE(contains(page, "<td class=\"best\">2.756"));
  CHECK(contains(page, "Not all rows have the same seeds"));
}

TEST_CASE("ranking: with the same seeds it is the order of the means, and the page says lowest") {
  const Comparison comparison = comparison_of({{"rope", {1.6, 1.7}, {1.9, 2.1}},
                                               {"alibi", {1.6, 1.7}, {1.8, 2.3}},
                                               {"learned", {1.6, 1.7}, {1.7, 1.8}}});
  const std::vector<Series> all = series_of(comparison);
  CHECK(names_of(ranking_of(comparison, all)) == Names{"learned", "rope", "alibi"});
  CHECK(ranking_of(comparison, all).same_seeds);
  CHECK(contains(length_page(comparison), "Bold: the lowest of a column"));
  CHECK_FALSE(contains(answer_text(comparison, all), "that both have"));
}

TEST_CASE("ranking: one mostly diverged series does not make the others be judged by its seed alone") {
  // Under the seed that is left of learned rope is better, over all three alibi.
  const Comparison comparison = comparison_of({{"rope", {1.6, 1.6, 1.6}, {1.80, 2.00, 2.00}},
                                               {"alibi", {1.6, 1.6, 1.6}, {1.85, 1.80, 1.80}},
                                               {"learned", {1.6, none, none}, {2.50, none, none}}});
  const std::vector<Series> all = series_of(comparison);
  CHECK(names_of(ranking_of(comparison, all)) == Names{"alibi", "rope", "learned"});
}

TEST_CASE("ranking: leads in a circle, or without a common seed, are told as they are") {
  // Each is below the next on the seeds that both have, and far below: rope, alibi, learned, rope.
  const Comparison circle = comparison_of(
      {{"rope", {1.5, 1.5, 1.5, 1.5, none, none}, {1.800, 1.801, 1.900, 1.901, none, none}},
       {"alibi", {1.5, 1.5, none, none, 1.5, 1.5}, {1.900, 1.902, none, none, 1.800, 1.801}},
       {"learned", {none, none, 1.5, 1.5, 1.5, 1.5}, {none, none, 1.800, 1.802, 1.900, 1.902}}});
  const std::vector<Series> all = series_of(circle);
  const Ranking ranking = ranking_of(circle, all);
  CHECK(ranking.leader().name == "rope");  // of equals the lowest mean
  CHECK(ranking.behind[1].mean < 0);
  const std::string answer = tapeline::answer(circle, all).headline;
  CHECK_MESSAGE(contains(answer, "but learned is 0.144 ±0.00"), answer);
  CHECK_MESSAGE(contains(answer, " lower over the 2 seeds that both have"), answer);
  CHECK_FALSE(contains(answer, "not told apart"));

  const Comparison apart =
      comparison_of({{"rope", {1.6, none}, {1.9, none}}, {"alibi", {none, 1.6}, {none, 1.8}}});
  const std::vector<Series> strangers = series_of(apart);
  CHECK(names_of(ranking_of(apart, strangers)) == Names{"alibi", "rope"});
  const std::string text = answer_text(apart, strangers);
  CHECK_MESSAGE(contains(text, "no seed has both this and rope, so without an interval"), text);
  CHECK_MESSAGE(contains(text, "no seed in common with alibi"), text);
}

TEST_CASE("ratios: an interval of the logarithm is shown by its limits, never as one that reaches below 0") {
  // Logarithms 2, 3, 4: mean 3 ± 2.484.
  const Comparison wide = comparison_of(
      {{"rope", {1.5, 1.5, 1.5}, {3.5, 4.5, 5.5}}, {"alibi", {1.5, 1.5, 1.5}, {1.48, 1.5, 1.49}}});
  const std::vector<Series> all = series_of(wide);
  CHECK(log_perplexity_ratio(result_rows(wide.cells), all[0], 128).mean == doctest::Approx(3));
  const ReportTable ratios = ratio_table(wide, all);
  CHECK(ratios.rows[0] == std::vector<std::string>{"rope", "20.09 (1.675 to 240.8)"});
  CHECK(ratios.rows[1] == std::vector<std::string>{"alibi", "0.990 (0.966 to 1.015)"});
  // Where seeds have run away, median and range beside it.
  const ReportTable spread = ratio_spread_table(wide, all);
  REQUIRE(spread.rows.size() == 1);
  CHECK(spread.rows[0] == std::vector<std::string>{"rope", "20.09 (7.389 to 54.60)"});
  for (const std::string& text : {ratios.rows[0][1], ratios.rows[1][1]}) CHECK_FALSE(contains(text, "±"));
  CHECK(contains(length_page(wide), "median, lowest and highest seed"));
  const Comparison calm = comparison_of({{"alibi", {1.5, 1.5}, {1.48, 1.481}}});
  CHECK(ratio_spread_table(calm, series_of(calm)).rows.empty());
  CHECK_FALSE(contains(length_page(calm), "median, lowest and highest seed"));
  Comparison one = comparison_of({{"rope", {1.5}, {2.0}}});
  CHECK(ratio_table(one, series_of(one)).rows[0][1] == "1.649");
  one.cells.front().record.results.pop_back();
  CHECK(ratio_table(one, series_of(one)).rows.empty());
}

TEST_CASE("ratios: of tokens that are several bytes they are per byte, and say so") {
  Comparison comparison =
      comparison_of({{"rope", {3.0, 3.0}, {3.6, 3.6}}, {"alibi", {3.0, 3.0}, {3.1, 3.1}}});
  comparison.config.data.tokenizer = "bpe";
  for (FinishedCell& cell : comparison.cells) {
    for (RecordedResult& recorded : cell.record.results) {
      recorded.result.scored_bytes = 3 * recorded.result.scored_tokens;
      finish_result(recorded.result,
                    recorded.result.nll * static_cast<double>(recorded.result.scored_tokens));
    }
  }
  const std::vector<Series> all = series_of(comparison);
  const ReportTable table = ratio_table(comparison, all);
  CHECK(contains(table.title, "Perplexity per byte"));
  CHECK(table.rows[0][1].starts_with("1.221 "));  // exp(0.6 / 3), not exp(0.6)
  CHECK(contains(answer_text(comparison, all), "(perplexity per byte × 1.22)"));
  comparison.config.data.tokenizer = "bytes";
  CHECK(contains(answer_text(comparison, all), "(perplexity × 1.22)"));
}

TEST_CASE("a comparison in sliding windows alone is not said to be without evaluations") {
  Comparison comparison = test::sample_comparison(1);
  for (FinishedCell& cell : comparison.cells) {
    std::erase_if(cell.record.results,
                  [](const RecordedResult& recorded) { return recorded.result.cell.on_whole_set(); });
  }
  const std::string answer = answer_text(comparison, series_of(comparison));
  CHECK_MESSAGE(contains(answer, "in sliding windows alone"), answer);
  CHECK_FALSE(contains(answer, "Nothing was evaluated"));
  CHECK(length_page(comparison).empty());
  for (FinishedCell& cell : comparison.cells) cell.record.results.clear();
  CHECK(contains(answer_text(comparison, series_of(comparison)), "Nothing was evaluated."));
}

}  // namespace
}  // namespace tapeline

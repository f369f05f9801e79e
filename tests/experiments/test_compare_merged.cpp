#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/compare/stored.h"
#include "experiments/report/missing_cells.h"
#include "tests/experiments/stored_samples.h"
#include "tests/support/kinds.h"
#include "tests/support/text.h"

/// Several folders put together.
namespace tapeline {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::Folders;
using test::sample_facts;
using test::sample_record;
using test::two_encodings;
using test::why_refused;

TEST_CASE("seeds with a gap between them are put together as they are" * test::needs({"rope", "learned"})) {
  const Folders folders;
  const fs::path one = folders.begin("one", two_encodings()),
                 later = folders.begin("later", two_encodings({{"train.seed", "5", "--seed"}}));
  const char* names[] = {"rope-seed", "learned-seed"};
  for (std::size_t i = 0; i < 2; ++i) {
    for (const int seed : {0, 1}) Folders::add(one, names[i] + std::to_string(seed), sample_record(i));
    for (const int seed : {5, 6}) Folders::add(later, names[i] + std::to_string(seed), sample_record(i));
  }
  const Comparison both = read_comparison({later, one});
  CHECK(planned_seeds(both) == std::vector<std::uint64_t>{0, 1, 5, 6});
  CHECK(both.config.compare.seeds == 4);
  CHECK(both.cells.size() == 8);
  CHECK(missing_cells(both).empty());
  CHECK(both.folders == std::vector<std::string>{later.string(), one.string()});
  CHECK(both.cells.front().share == 1);
  CHECK(both.cells.back().share == 0);
  CHECK(read_comparison({one}).folders.empty());
  fs::remove_all(later / "cells" / "rope-seed6");
  CHECK(missing_cells(read_comparison({one, later})) == std::vector<std::string>{"rope, seed 6"});
}

TEST_CASE("threads: of every model its own; of the whole what all folders tell" *
          test::needs({"rope", "learned"})) {
  const Folders folders;
  const fs::path one = folders.begin("one", two_encodings()), two = folders.begin("two", two_encodings());
  write_facts(one, sample_facts("tapeline compare --cells 1/2", {1, 2}));
  ComparisonFacts facts = sample_facts("tapeline compare --cells 2/2", {2, 2});
  facts.threads = 8;
  write_facts(two, facts);
  CellRecord record = sample_record(0);
  record.threads = 2;
  Folders::add(one, "rope-seed0", record);
  record = sample_record(1);
  record.threads = 3;
  Folders::add(two, "learned-seed0", record);
  const Comparison both = read_comparison({one, two});
  CHECK(both.threads == 0);
  REQUIRE(both.cells.size() == 2);
  CHECK(both.cells[0].record.threads == 2);
  CHECK(both.cells[1].record.threads == 3);
  CHECK(read_comparison({two}).threads == 8);
}

TEST_CASE("the same model of a sweep in two folders is the same, whatever the order of its record" *
          test::needs({"rope"})) {
  const Folders folders;
  const ResolvedConfig swept = two_encodings({{"compare.encodings", "rope", "--set"},
                                              {"compare.seeds", "1", "--set"},
                                              {"compare.sweep", "1,2", "--set"}});
  CellRecord record = sample_record(0);
  // Of the point first what it was chosen by, then the rest: not the order of results.csv.
  std::ranges::reverse(record.results);
  CellRecord worse = record;
  for (RecordedResult& recorded : worse.results) recorded.result.nll += 1;
  std::vector<fs::path> both;
  for (const char* name : {"one", "two"}) {
    both.push_back(folders.begin(name, swept));
    Folders::add(both.back(), "rope-lr1-seed0", record);
    Folders::add(both.back(), "rope-lr2-seed0", worse);
  }
  CHECK(why_refused(both).empty());
  CHECK(read_comparison(both).cells.size() == 1);
  record.results.front().result.nll += 1e-9;
  Folders::add(both.back(), "rope-lr1-seed0", record);
  CHECK(contains(why_refused(both), "its results differ"));
}

TEST_CASE("folders are grouped by their comparison, in any order, whatever is finished in them" *
          test::needs({"rope", "learned"})) {
  const Folders folders;
  const fs::path begun = folders.begin("begun", two_encodings()), one = folders.begin("one", two_encodings()),
                 longer = folders.begin("longer", two_encodings({{"train.steps", "300", "--set"}})),
                 later = folders.begin("later", two_encodings({{"train.seed", "5", "--seed"}})),
                 text = folders.begin("text", two_encodings());
  for (const fs::path& folder : {one, longer}) Folders::add(folder, "rope-seed0", sample_record(0));
  Folders::add(later, "rope-seed5", sample_record(0));
  CellRecord record = sample_record(0);
  record.corpus_digest = "d2";
  Folders::add(text, "rope-seed1", record);
  using Groups = std::vector<std::vector<fs::path>>;
  const auto groups_of = [](const std::vector<fs::path>& given) {
    Groups groups;
    for (const StoredComparison& stored : read_comparisons(given)) {
      groups.push_back(stored.folders);
      // The same as when its folders are read alone.
      const Comparison alone = read_comparison(stored.folders);
      CHECK(results_csv(result_rows(stored.comparison.cells)) == results_csv(result_rows(alone.cells)));
      CHECK(stored.comparison.folders == alone.folders);
      CHECK(stored.comparison.planned == alone.planned);
      CHECK(stored.comparison.text_digest == alone.text_digest);
    }
    return groups;
  };
  CHECK(groups_of({begun, longer, one, later}) == Groups{{begun, one, later}, {longer}});
  CHECK(groups_of({one, text, begun}) == Groups{{one, begun}, {text}});
  CHECK(groups_of({begun, one, text}) == Groups{{begun, one}, {text}});
  CHECK(read_comparison({begun, one}).cells.size() == 1);
  CHECK(read_comparison({one, begun}).cells.size() == 1);
  CHECK_THROWS_AS(read_comparisons({one, folders / "nothing"}), FileError);
}

}  // namespace
}  // namespace tapeline

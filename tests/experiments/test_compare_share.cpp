#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "experiments/compare/layout.h"
#include "experiments/compare/share.h"
#include "experiments/compare/stored.h"
#include "experiments/compare/sweep.h"
#include "tests/experiments/small_comparison.h"
#include "tests/support/kinds.h"
#include "tests/support/text.h"

/// compare --cells: the shares of a comparison.
namespace tapeline {
namespace {

using test::contains;
using test::SmallComparison;

/// So many seeds of variants that cost what is said.
struct Costed {
  std::vector<Cell> cells;
  std::vector<double> costs;
  Costed(int seeds, const std::vector<double>& variants) {
    for (int seed = 0; seed < seeds; ++seed) {
      for (std::size_t i = 0; i < variants.size(); ++i) {
        Cell cell;
        cell.variant = std::string(1, static_cast<char>('a' + i));
        cell.seed = static_cast<std::uint64_t>(seed);
        cells.push_back(cell);
        costs.push_back(variants[i]);
      }
    }
  }
  std::vector<std::string> share(Index number, Index of) const {
    std::vector<std::string> names;
    for (const Cell& cell : cells_of_share(cells, costs, {number, of})) names.push_back(cell.folder_name());
    return names;
  }
  double cost(Index number, Index of) const {
    double sum = 0;
    for (const std::string& name : share(number, of)) {
      const auto cell = std::ranges::find(cells, name, &Cell::folder_name);
      sum += costs[static_cast<std::size_t>(cell - cells.begin())];
    }
    return sum;
  }
};

using Names = std::vector<std::string>;

TEST_CASE("shares: every cell in one of them, about equal in cost") {
  const Costed costed(3, {5, 1, 1, 1, 2});
  for (const Index of : {1, 2, 3, 4, 7, 15}) {
    CAPTURE(of);
    std::multiset<std::string> all;
    double largest = 0;
    for (Index number = 1; number <= of; ++number) {
      const Names names = costed.share(number, of);
      all.insert(names.begin(), names.end());
      CHECK_FALSE(names.empty());
      largest = std::max(largest, costed.cost(number, of));
    }
    CHECK(all.size() == 15);
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == 15);
    // No share costs more than the mean and one cell: the bound of dealing out the costliest first.
    CHECK(largest <= 30.0 / static_cast<double>(of) + 5);
  }
}

TEST_CASE("shares: seeds stay whole where that is balanced, else cells are dealt out") {
  const Costed costed(4, {2, 1});
  CHECK(costed.share(1, 2) == Names{"a-seed0", "b-seed0", "a-seed2", "b-seed2"});
  CHECK(costed.share(2, 4) == Names{"a-seed1", "b-seed1"});
  // Three shares of four seeds: one would have two seeds, cost 6; dealt out cell by cell all have 4.
  for (const Index number : {1, 2, 3}) CHECK(costed.cost(number, 3) == 4);
  // Equal cells of one seed: every n-th.
  CHECK(Costed(1, {1, 1, 1, 1, 1}).share(2, 3) == Names{"b-seed0", "e-seed0"});
  CHECK_THROWS_WITH_AS(Costed(1, {1, 1}).share(1, 3),
                       "--cells 1/3: there are 2 cells to deal out; at most as many shares", ConfigError);
}

TEST_CASE("shares: with a sweep a variant goes with all its points and seeds to one share") {
  ConfigSources sources;
  const std::string kind = test::any_kind();
  sources.sets = {{"compare.encodings", "[]", "--set"},
                  {"compare.variant",
                   "[{name = \"a\", model.bias = true}, {name = \"b\", model.bias = false}, {name = \"c\", "
                   "model.tied = false}]",
                   "--set"},
                  {"compare.sweep", "0.5,1,2", "--set"}};
  const ResolvedConfig config = resolve_config(sources);
  std::multiset<std::string> all;
  for (const Index number : {1, 2}) {
    const Layout layout = lay_out(config, 4 << 20, 256, {number, 2});
    CHECK(layout.planned == 9);
    std::set<std::string> variants;
    for (const Cell& cell : layout.cells) {
      variants.insert(cell.variant);
      all.insert(cell.folder_name());
    }
    CHECK(layout.cells.size() == 6 * variants.size());  // three points, three seeds
  }
  CHECK(all.size() == 18);
  CHECK_THROWS_AS(lay_out(config, 4 << 20, 256, {1, 4}), ConfigError);
}

TEST_CASE("compare --cells: shares killed and gone on with make the bytes of the whole" *
          test::needs({"learned", "alibi"})) {
  const SmallComparison small("learned,alibi", 3);
  const std::vector<std::string> more = {"--set", "positional.keys.window=0"};
  const auto whole = small.run_timed("whole", more);
  for (const char* share : {"1/2", "2/2"}) {
    std::vector<std::string> words = more;
    words.insert(words.end(), {"--cells", share});
    CHECK(small.run_killed(std::string(1, *share), words, whole / 2) > 0);
    CHECK(contains(small.output(), "of 6 models done"));
    CHECK(contains(small.output(), "tapeline report "));
    CHECK_FALSE(std::filesystem::exists(small / std::string(1, *share) / "report.html"));
  }
  const Comparison merged = read_comparison({small / "1", small / "2"});
  CHECK(merged.planned == 6);
  CHECK(merged.cells.size() == 6);
  CHECK(contains(merged.command, "--cells 1/2"));
  std::filesystem::create_directory(small / "merged");
  write_tables(small / "merged", merged);
  CHECK(small.results("merged") == small.results("whole"));
  CHECK(read_file(small / "merged/positions.csv") == read_file(small / "whole/positions.csv"));
  CHECK(resolved_text(merged.config) == resolved_text(read_comparison({small / "whole"}).config));
  CHECK(read_comparison({small / "1"}).cells.size() < 6);

  // A folder is of one share.
  std::vector<std::string> other = more;
  other.insert(other.end(), {"--cells", "2/2"});
  CHECK(small.run("1", other) == 2);
  CHECK(contains(small.messages(), "is the folder of cells 1/2, and this is cells 2/2"));
  CHECK(small.run("1", more) == 2);
  CHECK(contains(small.messages(), "is the folder of cells 1/2, and this is all cells"));
  CHECK(small.run("whole", other) == 2);
  CHECK(contains(small.messages(), "is the folder of all cells, and this is cells 2/2"));
}

}  // namespace
}  // namespace tapeline

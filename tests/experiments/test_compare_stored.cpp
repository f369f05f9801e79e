#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "core/error.h"
#include "core/files.h"
#include "experiments/compare/comparison_file.h"
#include "experiments/compare/stored.h"
#include "tests/experiments/comparison_samples.h"
#include "tests/experiments/stored_samples.h"
#include "tests/support/kinds.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text.h"
#include "train/run_folder.h"

/// Comparisons read back from their folders.
namespace tapeline {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::Folders;
using test::sample_facts;
using test::sample_record;
using test::two_encodings;
using test::why_refused;

TEST_CASE("comparison.json: what is written is read back; anything else is refused by name") {
  const ComparisonFacts facts = sample_facts("tapeline compare --text 'my \"text\".txt'", {2, 3});
  const ComparisonFacts read = parse_facts(facts_text(facts), "here");
  CHECK(read.command == facts.command);
  CHECK(read.text_source == facts.text_source);
  CHECK(read.text_digest == facts.text_digest);
  CHECK(read.text_tokens == facts.text_tokens);
  CHECK(read.scored_tokens == facts.scored_tokens);
  CHECK(read.threads == facts.threads);
  CHECK(read.share == facts.share);
  for (const char* wrong : {"", "{}", "[1]", "{\"command\": 3}"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_facts(wrong, "there"), FileError);
  }
}

TEST_CASE("--cells: which share, of how many") {
  CHECK(parse_share("2/3", "--cells") == Share{2, 3});
  CHECK(parse_share("1/1", "--cells").whole());
  CHECK(Share{2, 3}.text() == "2/3");
  for (const char* wrong : {"", "2", "/", "0/3", "4/3", "-1/3", "1/-3", "1/3/2", "a/b", " 1/3", "1/ 3",
                            "1.5/3", "1/99999999999999999999"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_share(wrong, "--cells"), ConfigError);
  }
  CHECK_THROWS_WITH_AS(parse_share("3", "--cells"),
                       "--cells \"3\": give which share this is, counted from 1, and how many there are: 2/3",
                       ConfigError);
}

TEST_CASE("a comparison is read back with what it was made of" * test::needs({"rope", "learned"})) {
  const Folders folders;
  const fs::path folder = folders.begin("whole", two_encodings());
  write_facts(folder, sample_facts("tapeline compare"));
  const char* names[] = {"rope-seed0", "learned-seed0", "rope-seed1", "learned-seed1"};
  for (std::size_t i = 0; i < 3; ++i) Folders::add(folder, names[i], sample_record(i));
  CellRecord unfinished = sample_record(3);
  unfinished.complete = false;
  Folders::add(folder, names[3], unfinished);

  const Comparison comparison = read_comparison({folder});
  CHECK(comparison.command == "tapeline compare");
  CHECK(comparison.text_source == "kjv");
  CHECK(comparison.text_digest == "d1");
  CHECK(comparison.text_tokens == 4141414);
  CHECK(comparison.scored_tokens == 1000);
  CHECK(comparison.threads == 2);
  CHECK(comparison.planned == 4);
  REQUIRE(comparison.cells.size() == 3);
  CHECK(comparison.cells[1].variant == "learned");
  CHECK(comparison.cells[2].variant == "rope");
  CHECK(comparison.cells[2].seed == 1);
  CHECK(comparison.cells[2].kind == "rope");
  CHECK(comparison.cells[2].train_length == 64);
  CHECK(resolved_text(comparison.config) == resolved_text(two_encodings().config));
  Comparison sample = test::sample_comparison(2);
  sample.cells.pop_back();
  CHECK(results_csv(result_rows(comparison.cells)) == results_csv(result_rows(sample.cells)));
}

TEST_CASE("a folder from before comparison.json is read with what it tells" *
          test::needs({"rope", "learned"})) {
  const Folders folders;
  const fs::path folder = folders.begin("old", two_encodings());
  Folders::add(folder, "rope-seed0", sample_record(0));
  const Comparison comparison = read_comparison({folder});
  CHECK(comparison.text_source == "kjv");
  CHECK(comparison.text_digest == "d1");
  CHECK(comparison.scored_tokens == 1000);
  CHECK(comparison.text_tokens == 0);
  CHECK(contains(comparison.command, "tapeline compare "));
  CHECK(contains(comparison.command, "config.toml"));
}

TEST_CASE("shares and further seeds are put together in the order of the plan" *
          test::needs({"rope", "learned"})) {
  const Folders folders;
  const fs::path one = folders.begin("one", two_encodings()), two = folders.begin("two", two_encodings());
  write_facts(one, sample_facts("tapeline compare --cells 1/2", {1, 2}));
  write_facts(two, sample_facts("tapeline compare --cells 2/2", {2, 2}));
  Folders::add(one, "learned-seed0", sample_record(1));
  Folders::add(one, "rope-seed1", sample_record(2));
  Folders::add(two, "rope-seed0", sample_record(0));
  Folders::add(two, "learned-seed1", sample_record(3));
  const std::string whole = results_csv(result_rows(test::sample_comparison(2).cells));
  CHECK(results_csv(result_rows(read_comparison({one, two}).cells)) == whole);
  CHECK(results_csv(result_rows(read_comparison({two, one}).cells)) == whole);
  CHECK(read_comparison({one, two}).command == "tapeline compare --cells 1/2\ntapeline compare --cells 2/2");
  CHECK(read_comparison({one}).planned == 4);

  // The seed after them, made later.
  const ResolvedConfig later_config =
      two_encodings({{"train.seed", "2", "--seed"}, {"compare.seeds", "1", "--seeds"}});
  const fs::path later = folders.begin("later", later_config);
  Folders::add(later, "rope-seed2", sample_record(0));
  const Comparison all = read_comparison({later, one, two});
  CHECK(all.config.train.seed == 0);
  CHECK(all.config.compare.seeds == 3);
  CHECK(all.planned == 6);
  REQUIRE(all.cells.size() == 5);
  CHECK(all.cells.front().seed == 0);
  CHECK(all.cells.back().seed == 2);

  // The same cell in two folders counts once, when it is the same.
  CellRecord again = sample_record(0);
  again.tokens_per_second = 1;  // a speed is no difference
  Folders::add(one, "rope-seed0", again);
  CHECK(read_comparison({one, two}).cells.size() == 4);
  again.results.front().result.nll += 1e-9;
  Folders::add(one, "rope-seed0", again);
  CHECK(contains(why_refused({one, two}), "both hold rope, seed 0, and its results differ"));
}

TEST_CASE("what does not belong together, or is no comparison, is refused by name" *
          test::needs({"rope", "learned"})) {
  const Folders folders;
  const fs::path one = folders.begin("one", two_encodings());
  Folders::add(one, "rope-seed0", sample_record(0));
  const fs::path longer = folders.begin("longer", two_encodings({{"train.steps", "300", "--set"}}));
  Folders::add(longer, "rope-seed0", sample_record(0));
  CHECK(contains(why_refused({one, longer}), "do not belong together: train.steps 250 and 300"));

  const fs::path other_text = folders.begin("text", two_encodings());
  CellRecord record = sample_record(1);
  record.corpus_digest = "d2";
  Folders::add(other_text, "learned-seed0", record);
  CHECK(contains(why_refused({one, other_text}), "\"kjv\" was not the same text"));

  CHECK(contains(why_refused({folders / "nothing"}), "there is no such folder"));
  fs::create_directories(folders / "empty");
  CHECK(contains(why_refused({folders / "empty"}), "there is no config.toml"));
  fs::create_directories(folders / "run" / "checkpoints");
  CHECK(contains(why_refused({folders / "run"}), "holds a single run; tapeline evaluate measures it"));
  const fs::path begun = folders.begin("begun", two_encodings());
  CHECK(contains(why_refused({begun}), "none of its cells is finished"));
  write_file(comparison_file(one), "nonsense");
  CHECK(contains(why_refused({one}), "is not as compare wrote it there"));
}

}  // namespace
}  // namespace tapeline

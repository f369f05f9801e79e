#include <doctest/doctest.h>

#include <map>

#include "experiments/compare/cell_record.h"
#include "experiments/compare/probes_csv.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"
#include "tests/support/lines.h"
#include "train/probe.h"
#include "train/residual.h"

namespace tapeline {
namespace {

using namespace test;

/// Two encodings, one of which ends at the trained length, and one evaluation.
const std::string probed =
    "$tapeline compare $small --preset smoke --encodings alibi,learned --seeds 1 --quiet --threads 1 --set "
    "'compare.evaluation=[{name = \"near\", of = \"alibi\", positional.keys.window = 4}]' ";

TEST_CASE("compare: probes.csv holds every probe of every model, and an interruption changes no byte of it" *
          needs({"alibi", "learned"})) {
  const Shell shell;
  const std::string command = probed + "--set evaluate.probes=all --out ";
  const Ran ran = shell(command + "whole");
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const std::string whole = read_file(shell.folder() / "whole/probes.csv");
  const std::vector<std::string> lines = test::lines_of(whole);
  CHECK(lines.front() ==
        "name,kind,evaluation,seed,train_length,probe,eval_length,span,layer,head,quantity,tokens,value,"
        "status");
  for (const char* begin :
       {"alibi,alibi,trained,0,16,residual,32,,,,residual,",
        "alibi,alibi,trained,0,16,in_context,16,,,,score,", "alibi,alibi,trained,0,16,hard_window,32,,,,nll,",
        "alibi,alibi,trained,0,16,phase,16,,,,nll,", "alibi,alibi,trained,0,16,phase,32,,,,delta_nll,",
        "alibi,alibi,trained,0,16,history,32,8,,,nll,",
        "alibi,alibi,trained,0,16,history,16,,,,effective_context,",
        "alibi,alibi,trained,0,16,shuffle,32,0,,,delta_nll,",
        "alibi,alibi,trained,0,16,attention,32,,0,1,entropy,",
        "alibi,alibi,near,0,16,residual,32,,,,residual,", "alibi,alibi,near,0,16,in_context,16,,,,score,",
        "learned,learned,trained,0,16,history,16,16,,,nll,",
        "learned,learned,trained,0,16,history,32,,,,,,,refused",
        "learned,learned,trained,0,16,residual,32,,,,,,,refused",
        "learned,learned,trained,0,16,phase,32,,,,,,,refused"}) {
    CAPTURE(std::string(begin));
    CHECK(std::ranges::any_of(lines, [&](const std::string& line) { return line.starts_with(begin); }));
  }
  // What runs the model is measured of the model as it was trained alone.
  CHECK_FALSE(contains(whole, "alibi,alibi,near,0,16,attention"));
  CHECK_FALSE(contains(whole, "nan"));

  const std::filesystem::path cell = shell.folder() / "whole/cells/alibi-seed0";
  const CellRecord record = read_record(cell);
  CHECK(record_text(record) == read_file(record_file(cell)));
  CHECK(*curse_only_residual(record.results_of("trained"), 16, 32) ==
        record.find_probe("trained", "residual", 32)->find("residual")->value);
  // Scored counts are equal at all lengths and for all encodings.
  std::map<std::string, std::set<Index>> scored;
  for (const char* name : {"alibi-seed0", "learned-seed0"}) {
    for (const RecordedResult& recorded : read_record(shell.folder() / "whole/cells" / name).results) {
      if (recorded.result.status == "ok")
        scored[recorded.result.cell.subset ? "subset" : "whole"].insert(recorded.result.scored_tokens);
    }
  }
  CHECK(scored["whole"].size() == 1);
  CHECK(scored["subset"].size() == 1);

  // As if it had been stopped between any two probes.
  for (std::size_t kept = 0; kept <= record.probes.size(); kept += 3) {
    CAPTURE(kept);
    CellRecord part = record;
    part.complete = false;
    part.probes.resize(kept);
    write_record(cell, part);
    std::filesystem::remove(shell.folder() / "whole/probes.csv");
    REQUIRE(shell(command + "whole").code == 0);
    CHECK(read_file(shell.folder() / "whole/probes.csv") == whole);
    CHECK(record_text(read_record(cell)) == record_text(record));
  }
}

TEST_CASE("compare: without probes there are none, and a diverged model has diverged ones" *
          needs({"alibi", "learned"})) {
  const Shell shell;
  REQUIRE(shell(probed + "--set evaluate.probes=none --out none").code == 0);
  CHECK(test::lines_of(read_file(shell.folder() / "none/probes.csv")).size() == 1);
  REQUIRE(shell(probed + "--set optimizer.lr=1e30 --set optimizer.clip=0 --out wild").code == 0);
  const std::vector<std::string> lines = test::lines_of(read_file(shell.folder() / "wild/probes.csv"));
  CHECK(std::ranges::any_of(lines, [](const std::string& line) {
    return line == "alibi,alibi,trained,0,16,attention,32,,,,,,,diverged";
  }));
}

}  // namespace
}  // namespace tapeline

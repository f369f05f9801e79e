#include <doctest/doctest.h>

#include <string>

#include "tests/experiments/shell.h"

namespace tapeline::test {
namespace {

TEST_CASE("train --text -: it says at once what --resume will need, and --resume without it says so again") {
  const Shell shell;
  const std::string train =
      "$tapeline train --text - $model --set train.steps=2000 --budget 0.000001s --out 'a run'";
  const std::string command = "tapeline train --out 'a run' --resume < FILE";
  const Ran first = shell("cat text.txt | " + train);
  REQUIRE(first.code == 0);
  CHECK(first.err.starts_with("the text comes from standard input and is not kept; "));
  CHECK(contains(first.err, command));
  CHECK(contains(first.out, "--resume goes on, with the same text on standard input"));
  const std::string resume = "$tapeline train --out 'a run' --resume --budget 0.000001s --quiet";
  check_refused(shell(resume + " < /dev/null"), 1,
                {"--resume: the text of standard input is empty", "the run in \"a run\"", command});
  check_refused(shell("echo other | " + resume), 1, {"too small", command});
  const Ran more = shell(resume + " < text.txt");
  CHECK(more.code == 0);
  CHECK(more.err.empty());
  CHECK(contains(more.out, "after step 2 of 2000"));
  const Ran stopped = shell(
      "$tapeline train --text - $model --set train.steps=30000 --out stopped < text.txt & pid=$!\n"
      "while [ ! -s stopped/metrics.jsonl ] && kill -0 $pid; do sleep 0.05; done\nkill -TERM $pid\nwait "
      "$pid");
  CHECK(contains(stopped.err, "--resume goes on, with the same text on standard input"));
  CHECK(stopped.code == 3);
}

}  // namespace
}  // namespace tapeline::test

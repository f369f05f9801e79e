#include <doctest/doctest.h>

#include "tests/experiments/shell.h"

using tapeline::test::check_refused;
using tapeline::test::contains;
using tapeline::test::Ran;
using tapeline::test::Shell;

#if !defined(TAPELINE_STD_THREADS)  // which has threads of its own
// OpenMP may grant fewer threads than are asked for, and the libraries of products wait for all of them:
// results were wrong, or the program never ended.
TEST_CASE("threads: the runtime's own settings change no result and let every product end") {
  const Shell shell;
  // Large enough that both libraries of products split their work.
  const std::string train =
      "timeout -s KILL 100 $tapeline train --text text.txt --out run --quiet --set train.steps=3 --set "
      "model.layers=2 "
      "--set model.width=128 --set model.heads=2 --set train.length=64 --set train.tokens_per_step=512 "
      "--set evaluate.lengths=1x > told && cat run/metrics.jsonl | sed 's/,\"tokens_per_second.*//' && rm -r "
      "run";
  const auto losses = [&](const std::string& environment) {
    const Ran ran = shell("export " + environment + "\n" + train);
    CAPTURE(environment);
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    CHECK(contains(ran.out, "loss"));
    return ran.out;
  };
  const std::string of_one = losses("OMP_NUM_THREADS=1");
  const std::string of_two = losses("OMP_NUM_THREADS=2");
  CHECK(losses("OMP_NUM_THREADS=2 OMP_THREAD_LIMIT=1") == of_one);
  CHECK(losses("OMP_NUM_THREADS=4 OMP_THREAD_LIMIT=2") == of_two);
  for (const char* setting : {"OMP_DYNAMIC=true", "OMP_MAX_ACTIVE_LEVELS=0", "OMP_NESTED=true",
                              "OMP_SCHEDULE=dynamic,1", "OMP_PLACES={0}", "OMP_PROC_BIND=spread"}) {
    CHECK(losses(std::string("OMP_NUM_THREADS=2 ") + setting) == of_two);
  }
}

#endif

TEST_CASE(
    "threads: more than are granted or used is one line, and an environment beyond all sense is capped") {
  const Shell shell;
#if !defined(TAPELINE_STD_THREADS)
  check_refused(shell("OMP_THREAD_LIMIT=2 $tapeline bench gemm --preset toy --threads 4"), 2,
                {"threads: 4 were asked for", "OMP_THREAD_LIMIT grants 2"});
#endif
  check_refused(shell("$tapeline bench gemm --preset toy --threads 1025"), 2, {"train.threads", "0 to 1024"});
  const Ran capped = shell("OMP_NUM_THREADS=100000 $tapeline train $small --dry-run --threads 1");
  CAPTURE(capped.err);
  CHECK(capped.code == 0);
}

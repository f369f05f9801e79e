#include <doctest/doctest.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/files.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"
#include "tests/support/small_disk.h"

/// Runs that something comes in the way of: a signal, a kill, a disk, a terminal that closes.
namespace tapeline {
namespace {

using namespace test;

TEST_CASE("train: a signal saves and ends with 3; the run goes on from there") {
  const Shell shell;
  const std::string train = "$tapeline train $long --out run";
  const Ran stopped = shell(train +
                            " & pid=$!\nwhile [ ! -s run/metrics.jsonl ]; do sleep 0.05; done\n"
                            "kill -TERM $pid\nwait $pid");
  CHECK(stopped.code == 3);
  CHECK(contains(stopped.err, "stopped by a signal after step"));
  CHECK(std::filesystem::exists(shell.folder() / "run" / "checkpoints" / "latest"));
  const Ran resumed = shell(train +
                            " --resume & pid=$!\nuntil grep -q 'going on' script.err; do sleep 0.05; done\n"
                            "kill -HUP $pid\nwait $pid");  // a shell makes its background jobs deaf to INT
  CHECK(resumed.code == 3);
}

TEST_CASE(
    "evaluate, bench, generate, compare: stopped by a signal they say so, and what is kept, in a line") {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --out run --quiet").code == 0);
  const auto stopped = [&](const std::string& command, const std::string& when) {
    return shell(command + " & pid=$!\n" + when + "\nkill -TERM $pid\nwait $pid");
  };
  const std::string once_shown = "until [ -s script.err ] || ! kill -0 $pid; do sleep 0.02; done";
  const Ran evaluated = stopped(
      "$tapeline evaluate run --text text.txt --lengths 1x --protocol sliding --stride 1 "
      "--sliding-tokens 1000000 --probes none",
      once_shown);
  CAPTURE(evaluated.err);
  CHECK(evaluated.code == 3);
  CHECK(evaluated.out.empty());
  CHECK(contains(evaluated.err, "warning: evaluate: stopped by a signal; "));
  CHECK(contains(evaluated.err, "not kept"));
  const Ran timed = stopped("$tapeline bench gemm $model --repeats 10000", once_shown);
  CAPTURE(timed.err);
  CHECK(timed.code == 3);
  CHECK(contains(timed.err, "warning: bench: stopped by a signal; "));
  const Ran made = stopped("$tapeline generate run --prompt let --tokens 100000000 --quiet",
                           "until [ -s script.out ] || ! kill -0 $pid; do sleep 0.02; done");
  CHECK(made.code == 3);
  CHECK(one_line(made.err));
  CHECK(contains(made.err, "warning: generate: stopped by a signal; "));
  const Ran compared = stopped(
      "$tapeline compare $small --encodings " + test::any_kind() +
          " --seeds 1 --out c --set evaluate.stride=1 evaluate.sliding_tokens=1000000 "
          "evaluate.lengths=1x,4x evaluate.sliding_up_to=4x",
      "until ls c/cells/*/checkpoints/step-00000020.h5 2> /dev/null || ! kill -0 $pid; do sleep 0.02; done");
  CAPTURE(compared.err);
  CHECK(compared.code == 3);
  CHECK(contains(compared.err, "stopped by a signal; "));
  CHECK(contains(compared.err, "the same command "));  // on a fast machine it is in the report by then
}

TEST_CASE("bench attention: a signal ends it within an op that takes much longer") {
  const Shell shell;
  // About 1e12 operations: tens of seconds.
  const Ran ran = shell(
      "$tapeline bench attention --lengths 65536 --no-floor --repeats 1 --set model.layers=1 "
      "model.width=32 model.heads=1 & pid=$!\n"
      "until [ -s script.err ] || ! kill -0 $pid; do sleep 0.1; done\nsleep 2\nbefore=$(date +%s)\nkill "
      "-TERM $pid\nwait $pid\n"
      "code=$?\necho $(($(date +%s) - before))\nexit $code");
  CAPTURE(ran.err);
  CHECK(ran.code == 3);
  CHECK(contains(ran.err, "bench: stopped by a signal; "));
  CHECK(std::stoi(ran.out) <= 20);
}

// A run of 20 steps as a kill after step 10 leaves it: the checkpoint of step 10, and lines of later steps.
const std::string ten_of_twenty =
    "train=\"$tapeline train $small --set train.checkpoint_every=10 --out $out\"\n"
    "begin() {\n"
    "  $train --quiet && cp $out/checkpoints/step-00000020.h5 whole.h5 || exit 9\n"
    "  rm $out/checkpoints/step-00000020.h5 $out/checkpoints/best\n"
    "  echo step-00000010.h5 > $out/checkpoints/latest\n"
    "}\n";

// After a save of step 20 that failed: step 10 stands, whole, nothing else looks like a checkpoint, and with
// room again the run ends as one that was never interrupted.
void check_stands_at_ten(const Shell& shell, const std::string& head, const std::filesystem::path& run,
                         const Ran& failed) {
  CHECK(failed.code == 1);
  CHECK(one_line(failed.err));
  CHECK(contains(failed.err, "step-00000020.h5"));
  CHECK(read_file(run / "checkpoints" / "latest") == "step-00000010.h5\n");
  CHECK(names_in(run / "checkpoints") == std::set<std::string>{"latest", "step-00000010.h5"});
  const Ran evaluated = shell(head + "$tapeline evaluate $out --lengths 16 --protocol nonoverlapping --json");
  CHECK(evaluated.code == 0);
  CHECK(nlohmann::json::parse(evaluated.out).at("results")[0].at("status") == "ok");
}

TEST_CASE("train: a checkpoint past the file-size limit: one line, and the run stands where it stood") {
  const Shell shell;
  const std::string head = "out=run\n" + ten_of_twenty;
  REQUIRE(shell(head + "begin").code == 0);
  // 64 KiB: metrics fit, a checkpoint does not.
  REQUIRE(std::filesystem::file_size(shell.folder() / "whole.h5") > 65536);
  const Ran failed = shell(head + "(ulimit -f 128; $train --resume --quiet)");
  check_stands_at_ten(shell, head, shell.folder() / "run", failed);
  CHECK(shell(head +
              "$tapeline train --out run --resume --quiet && cmp whole.h5 run/checkpoints/step-00000020.h5")
            .code == 0);
}

TEST_CASE("train: a full disk: one line, and the run stands where it stood") {
  const test::SmallDisk disk(600);
  if (!disk.mounted()) {
    MESSAGE(disk.why());
    return;
  }
  const Shell shell;
  const std::string head = "out='" + (disk / "run").string() + "'\n" + ten_of_twenty;
  REQUIRE(shell(head + "begin").code == 0);
  disk.fill_up_to(32768);  // metrics fit, a checkpoint does not
  const Ran failed = shell(head + "$train --resume --quiet");
  CHECK(contains(failed.err, "No space left"));
  check_stands_at_ten(shell, head, disk / "run", failed);
  disk.empty_again();
  CHECK(shell(head + "$train --resume --quiet && cmp whole.h5 $out/checkpoints/step-00000020.h5").code == 0);
}

TEST_CASE("train: --resume with another number of threads says once that bits will differ") {
  const Shell shell;
  const std::string head = "out=run\n" + ten_of_twenty;
  REQUIRE(shell(head + "begin; cp -r run same").code == 0);
  const Ran other = shell(head + "OMP_NUM_THREADS=2 $train --resume --quiet");
  CHECK(other.code == 0);
  CHECK(one_line(other.err));
  CHECK(contains(other.err, "trained with 1 thread up to step 10, now with 2"));
  CHECK(contains(other.err, "not be bit-identical"));
  // Nothing is left to do: nothing to warn of. And the same count says nothing at all.
  CHECK(shell(head + "$train --resume --quiet").err.empty());
  CHECK(shell("out=same\n" + ten_of_twenty + "$train --resume --quiet").err.empty());
  CHECK(contains(shell("$tapeline train $small --out third").err, "1 thread\n"));
}

TEST_CASE("train: killed at any moment, --resume goes on without a line of metrics lost or doubled") {
  const Shell shell;
  const Ran killed = shell(
      "$tapeline train $long --set train.checkpoint_every=20 --out run & pid=$!\n"
      "until [ -s run/checkpoints/latest ]; do sleep 0.02; done\nkill -KILL $pid\nwait $pid");
  REQUIRE(killed.code == 128 + 9);
  const Ran resumed = shell(
      "$tapeline train $long --set train.checkpoint_every=20 --out run --resume & pid=$!\n"
      "until grep -q 'going on' script.err; do sleep 0.02; done\nsleep 0.2\nkill -TERM $pid\nwait $pid");
  REQUIRE(resumed.code == 3);
  std::ifstream metrics(shell.folder() / "run" / "metrics.jsonl");
  int last = 0;
  bool in_order = true;
  for (std::string line; std::getline(metrics, line);) {
    in_order = in_order && nlohmann::json::parse(line).at("step") == ++last;
  }
  CHECK(in_order);
  CHECK(last > 20);
  CHECK(contains(resumed.err, "after step " + std::to_string(last) + " of 30000"));
}

TEST_CASE("train: --from, killed before a first checkpoint of its own, resumes from the given weights") {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --set optimizer.lr=0.01 --out first --quiet").code == 0);
  const std::string train = "$tapeline train $long --out run ";
  const Ran killed = shell(train +
                           "--from first --set train.checkpoint_every=0 & pid=$!\n"
                           "until [ -s run/metrics.jsonl ]; do sleep 0.02; done\nkill -KILL $pid\nwait $pid");
  REQUIRE(killed.code == 128 + 9);
  REQUIRE(read_file(shell.folder() / "run" / "checkpoints" / "latest") == "step-00000000.h5\n");
  const auto first_loss = [&] {
    std::ifstream metrics(shell.folder() / "run" / "metrics.jsonl");
    std::string line;
    std::getline(metrics, line);
    return nlohmann::json::parse(line).at("loss").get<double>();
  };
  const double before = first_loss();
  CHECK(before < 5);  // random weights would stand at ln 256 = 5.5
  std::filesystem::remove(shell.folder() / "run" / "metrics.jsonl");
  shell(train +
        "--resume --set train.checkpoint_every=0 & pid=$!\n"
        "until grep -q '\"step\":2,' run/metrics.jsonl 2> /dev/null; do sleep 0.02; done\nkill -TERM "
        "$pid\nwait $pid");
  CHECK(first_loss() == before);
}

TEST_CASE("train: a model that is not a number in the end is an error, and not saved") {
  const Shell shell;
  for (const char* policy : {"stop", "skip", "skip --set data.validation_share=0"}) {
    const Ran ran = shell(
        "$tapeline train $small --set train.steps=1 --set optimizer.lr=1e300 --quiet --out run "
        "--set train.on_nonfinite=" +
        std::string(policy));
    CHECK(ran.code == 1);
    CHECK(contains(ran.err, "this model is of no use and is not saved"));
    CHECK(one_line(ran.err));
    const auto checkpoints = shell.folder() / "run" / "checkpoints";
    CHECK((!std::filesystem::exists(checkpoints) || std::filesystem::is_empty(checkpoints)));
    shell("rm -r run");
  }
}

TEST_CASE("train: nobody has to listen: standard error closed, full, or its reader gone") {
  const Shell shell;
  for (const std::string listener : {"2>&-", "2>/dev/full", "2>&1 >/dev/null | head -n 1"}) {
    CAPTURE(listener);
    const Ran ran = shell("rm -rf run; $tapeline train $small --out run " + listener);
    CHECK(ran.code == 0);
    REQUIRE(std::filesystem::exists(shell.folder() / "run" / "checkpoints" / "step-00000020.h5"));
    std::ifstream metrics(shell.folder() / "run" / "metrics.jsonl");
    for (std::string line; std::getline(metrics, line);) CHECK(nlohmann::json::accept(line));
  }
}

TEST_CASE("streams: results that nobody can get are an error, a closed input is no text") {
  const Shell shell;
  const Ran closed = shell("$tapeline encodings >&-");
  CHECK(closed.code == 1);
  CHECK(contains(closed.err, "standard output: cannot be written"));
  CHECK(shell("$tapeline encodings > /dev/full").code == 1);
  const Ran no_input = shell("$tapeline train $model --text - --out run <&-");
  CHECK(no_input.code == 1);
  CHECK(one_line(no_input.err));
}

TEST_CASE("train: a terminal that is closed stops it like a signal: saved, exit 3") {
  const Shell shell;
  REQUIRE(shell("printf 'exec %s train %s --out run\\n' \"$tapeline\" \"$long\" > command").code == 0);
  int master = -1;
  const pid_t child = forkpty(&master, nullptr, nullptr, nullptr);
  if (child < 0) {
    MESSAGE("no terminal can be had here (is /dev/pts mounted?): not tested");
    return;
  }
  if (child == 0) {
    if (chdir(shell.folder().c_str()) == 0) execl("/bin/sh", "sh", "command", nullptr);
    _exit(127);
  }
  const auto metrics = shell.folder() / "run" / "metrics.jsonl";
  for (std::array<char, 4096> seen;
       !std::filesystem::exists(metrics) || std::filesystem::file_size(metrics) == 0;) {
    REQUIRE(read(master, seen.data(), seen.size()) > 0);
  }
  close(master);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(std::filesystem::exists(shell.folder() / "run" / "checkpoints" / "latest"));
}

TEST_CASE("train: `latest` gone or wrong: --resume takes the last checkpoint, or says what to do") {
  const Shell shell;
  const std::string head = "out=run\n" + ten_of_twenty;
  REQUIRE(shell(head + "begin; rm run/checkpoints/latest").code == 0);
  CHECK(shell("$tapeline evaluate run --lengths 16").code == 0);
  CHECK(contains(shell(head + "$train --resume").err, "going on after step 10"));
  CHECK(shell("cmp whole.h5 run/checkpoints/step-00000020.h5").code == 0);
  for (const char* wrong : {"step-00000007.h5", "../other", "", "no such thing"}) {
    CAPTURE(wrong);
    const Ran refused =
        shell(head + "echo '" + wrong + "' > run/checkpoints/latest\n$train --resume --quiet");
    CHECK(refused.code == 1);
    CHECK(one_line(refused.err));
    CHECK(contains(refused.err, wrong));
    CHECK(contains(refused.err, "or remove it to go on from the last one"));
  }
}

}  // namespace
}  // namespace tapeline

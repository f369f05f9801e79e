#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/experiments/versus.h"

/// versus_pytorch when it is stopped: by one line, with all that it started, and with what was finished.
namespace tapeline::test {
namespace {

/// A program whose training steps never end, and have started another process, which holds their output: its
/// number is in the file `started`. Evaluations end at once. Interrupts reach what ./asked starts, as they do
/// not reach what a shell starts in the background.
void write_endless(const Shell& shell) {
  shell.write("fake",
              "#!/bin/sh\ncase \"$1 $2\" in\n--version*) echo tapeline 9.9 ;;\n"
              "'bench step') sleep 1000 & echo $! > number; mv number started; wait ;;\n"
              "'bench evaluate') echo '{\"lengths\": [{\"seconds\": 0.25}]}' ;;\nesac\n");
  shell.write("asked",
              "#!/usr/bin/python3\nimport os, signal, sys\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\n"
              "os.execvp(sys.argv[1], sys.argv[1:])\n");
  for (const char* name : {"fake", "asked"})
    std::filesystem::permissions(shell.folder() / name, std::filesystem::perms::owner_all);
}

const std::string endless_driver =
    "./asked $versus --tapeline ./fake --encodings rope --rounds 1 --memory-share 0 --json lines.jsonl ";
const std::string once_started =
    " & driver=$!\ntries=0; until test -e started; do sleep 0.02; tries=$((tries + 1)); "
    "test $tries -lt 1000 || exit 99; done\n";
/// What is killed may take a moment to go on a busy machine.
const std::string then_all_is_gone =
    "\nwait $driver; code=$?\ntries=0; while grep -qs sleep /proc/$(cat started)/cmdline; do sleep 0.05; "
    "tries=$((tries + 1)); test $tries -lt 200 || { code=98; break; }; done\nexit $code";

TEST_CASE("versus_pytorch: stopped by any signal it says so, and nothing is left" * needs_pytorch()) {
  // More of them, as of someone who is impatient, change nothing; which of them is seen first is open.
  for (const auto& [signals, by] : std::vector<std::pair<std::string, std::string>>{
           {"INT", "SIGINT: "}, {"HUP", "SIGHUP: "}, {"TERM", "SIGTERM: "}, {"INT TERM HUP INT", "SIG"}}) {
    const Shell shell;
    write_endless(shell);
    shell.write("lines.jsonl", "of another day\n");
    const Ran ran = run_versus(
        shell, fmt::format("{}--cases tiny{}for signal in {}; do kill -$signal $driver; done 2>/dev/null{}",
                           endless_driver, once_started, signals, then_all_is_gone));
    CAPTURE(ran.err);
    CHECK(ran.code == 3);
    CHECK(ran.out.empty());
    CHECK(one_line(ran.err));
    CHECK(contains(ran.err, "versus_pytorch: stopped by " + by));
    CHECK(contains(ran.err, ": no case was finished, and nothing that was measured is kept"));
    CHECK(read_file((shell.folder() / "lines.jsonl").string()) == "of another day\n");
    check_nothing_left(shell);
  }
}

TEST_CASE("versus_pytorch: stopped it shows what was finished" * needs_pytorch()) {
  const Shell shell;
  write_endless(shell);
  const Ran ran = run_versus(shell, endless_driver + "--cases tiny-eval,tiny" + once_started +
                                        "kill -TERM $driver" + then_all_is_gone);
  CAPTURE(ran.err);
  CHECK(ran.code == 3);
  CHECK(one_line(ran.err));
  CHECK(contains(ran.err,
                 "stopped by SIGTERM: 1 of 2 were finished and are in the table and in \"lines.jsonl\""));
  CHECK(contains(ran.out, "tiny-eval  rope        250.0"));
  CHECK(json_lines(read_file((shell.folder() / "lines.jsonl").string())).size() == 1);
  check_nothing_left(shell);
}

TEST_CASE("versus_pytorch: a signal while modules are loaded is one line" * needs_pytorch()) {
  const Shell shell;
  write_endless(shell);
  std::filesystem::create_directory(shell.folder() / "modules");
  shell.write("modules/sitecustomize.py", "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n");
  // Whoever starts it may as well ignore interrupts; ./asked is without these modules.
  const Ran ran =
      run_versus(shell, "PYTHONPATH= ./asked env PYTHONPATH=\"$PWD/modules\" $versus --tapeline ./fake");
  CAPTURE(ran.err);
  CHECK(ran.code == 3);
  CHECK(one_line(ran.err));
  CHECK(contains(ran.err, "versus_pytorch: stopped by SIGINT: nothing was measured yet"));
  check_nothing_left(shell);
}

TEST_CASE("versus_pytorch: a process left behind that holds the output is ended" * needs_pytorch()) {
  const Shell shell;
  write_endless(shell);
  shell.write(
      "fake",
      "#!/bin/sh\ncase \"$1 $2\" in\n--version*) echo tapeline 9.9 ;;\n*) sleep 1000 & echo $! > started\n"
      "echo '{\"step_seconds\": 0.5, \"step_peak_rss_bytes\": null}' ;;\nesac\n");
  const Ran ran = run_versus(shell, endless_driver + "--cases tiny & driver=$!" + then_all_is_gone);
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "tiny  rope        500.0"));
  check_nothing_left(shell);
}

TEST_CASE("versus_pytorch: a signal ends PyTorch too, and nothing is left" * needs_pytorch()) {
  const Shell shell;
  const Ran ran = run_versus(
      shell, "$versus --cases tiny --encodings " + any_kind() +
                 " --rounds 10000 & driver=$!\n"
                 "tries=0; until test -e tmp/*/case/peer.err; do sleep 0.05; tries=$((tries + 1)); "
                 "test $tries -lt 600 || exit 99; done\n"
                 "kill -TERM $driver; wait $driver; code=$?\n"
                 // What is killed may take a moment to go on a busy machine.
                 "tries=0; while grep -qs \"$PWD/tm[p]\" /proc/[0-9]*/cmdline; do sleep 0.05; "
                 "tries=$((tries + 1)); test $tries -lt 200 || { code=98; break; }; done\nexit $code");
  CAPTURE(ran.err);
  CHECK(ran.code == 3);
  CHECK(one_line(ran.err));
  CHECK(contains(ran.err, "stopped by SIGTERM"));
  check_nothing_left(shell);
}

}  // namespace
}  // namespace tapeline::test

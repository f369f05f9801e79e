#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <vector>

#include "tests/experiments/versus.h"

/// What versus_pytorch measures, and the command lines that it refuses.
namespace tapeline::test {
namespace {

TEST_CASE("versus_pytorch: every encoding has the loss that PyTorch has, and a line" * needs_pytorch()) {
  const Shell shell;
  const std::vector<std::string> kinds = built_of({"learned", "sinusoidal", "rope", "alibi"});
  if (kinds.empty()) return;
  const Ran ran = run_versus(
      shell, fmt::format("$versus --cases tiny --encodings {} --rounds 1 --json -", fmt::join(kinds, ",")));
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const std::vector<nlohmann::json> lines = json_lines(ran.out);
  REQUIRE(lines.size() == kinds.size());
  std::set<double> losses;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const nlohmann::json& line = lines[i];
    CAPTURE(line.dump());
    CHECK(line.at("case") == "tiny");
    CHECK(line.at("encoding") == kinds[i]);
    CHECK(line.at("work") == "training");
    CHECK(line.at("status") == "ok");
    CHECK(line.at("reason").is_null());
    CHECK(line.at("loss_difference") <= 1e-4);
    CHECK(line.at("torch_loss") > 0);
    losses.insert(line.at("torch_loss").get<double>());
    for (const char* positive : {"tapeline_seconds", "torch_seconds", "ratio", "tapeline_tokens_per_second",
                                 "torch_tokens_per_second", "torch_estimated_bytes", "torch_peak_bytes"})
      CHECK(line.at(positive) > 0);
    CHECK(line.at("lowest_ratio") == line.at("highest_ratio"));  // one round
    CHECK(line.contains("memory_ratio"));
    CHECK(line.at("threads") == 1);
    CHECK(contains(line.at("torch_blas").get<std::string>(), "openblas-openmp"));
    CHECK(contains(ran.err, kinds[i]));  // the table
  }
  CHECK(losses.size() == kinds.size());  // the encodings are not one and the same
  check_nothing_left(shell);
}

TEST_CASE("versus_pytorch: the floor is measured when it is asked for" * needs_pytorch()) {
  const Shell shell;
  const std::string case_of =
      fmt::format("$versus --cases tiny,tiny-eval --encodings {} --rounds 1 --json -", any_kind());
  const Ran without = run_versus(shell, case_of);
  CAPTURE(without.err);
  REQUIRE(without.code == 0);
  for (const nlohmann::json& line : json_lines(without.out)) {
    for (const char* name : {"floor_seconds", "floor_ratio", "ratio_at_floor"})
      CHECK(line.at(name).is_null());
  }
  CHECK_FALSE(contains(without.err, "floor"));

  const Ran with = run_versus(shell, case_of + " --floor");
  CAPTURE(with.err);
  REQUIRE(with.code == 0);
  const std::vector<nlohmann::json> lines = json_lines(with.out);
  REQUIRE(lines.size() == 2);
  for (const nlohmann::json& line : lines) {
    CAPTURE(line.dump());
    const double floor = line.at("floor_seconds");
    CHECK(floor > 0);
    CHECK(line.at("floor_ratio") == doctest::Approx(line.at("tapeline_seconds").get<double>() / floor));
    CHECK(line.at("ratio_at_floor") == doctest::Approx(line.at("torch_seconds").get<double>() / floor));
  }
  CHECK(contains(with.err, "at floor"));
}

TEST_CASE("versus_pytorch: another loss is exit 4, too little memory is an estimate" * needs_pytorch()) {
  const Shell shell;
  const std::string kind = any_kind();
  const std::string case_of = fmt::format("--cases tiny --encodings {} --rounds 1 --json lines.jsonl", kind);
  // A tapeline whose losses are not what they were.
  const Ran other =
      run_versus(shell,
                 "cat > other <<'end'\n#!/bin/sh\ncase $1 in evaluate) \"$program\" \"$@\" | "
                 "sed 's/\"nll\": [0-9.]*/\"nll\": 1.5/' ;; *) exec \"$program\" \"$@\" ;; esac\nend\n"
                 "chmod +x other; export program=\"$tapeline\"; $versus " +
                     case_of + " --tapeline ./other; code=$?; cat lines.jsonl; exit $code");
  CAPTURE(other.err);
  CHECK(other.code == 4);
  CHECK(contains(other.err, "in the mean tapeline's is 1.5"));
  CHECK(one_line(other.err));
  CHECK(contains(other.out, "\"status\": \"losses differ\""));
  check_nothing_left(shell);

  const Ran small = run_versus(shell, "$versus --memory-share 0 " + case_of);
  CAPTURE(small.err);
  CHECK(small.code == 0);
  CHECK(contains(small.out, "PyTorch was not started: it would take about 0.3 GB"));
  const std::vector<nlohmann::json> lines = json_lines(read_file((shell.folder() / "lines.jsonl").string()));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].at("status") == "not started");
  CHECK(lines[0].at("tapeline_seconds") > 0);
  CHECK(lines[0].at("torch_seconds").is_null());
}

TEST_CASE("versus_pytorch: what it cannot do is one line" * needs_python()) {
  const Shell shell;
  const auto refused = [&shell](const std::string& script, int code, const std::string& part) {
    const Ran ran = run_versus(shell, script);
    CAPTURE(ran.err);
    CHECK(ran.code == code);
    CHECK(ran.out.empty());
    CHECK(one_line(ran.err));
    CHECK(ran.err.starts_with("versus_pytorch: "));
    CHECK(contains(ran.err, part));
  };
  refused("$versus --cases tinny", 2, "there is no case \"tinny\"; there are 4x128, ");
  refused("$versus --encodings rope,", 2, "there is no encoding \"\"; there are learned, ");
  refused("$versus --rounds 0", 2, "\"0\" must be a whole number from 1 to 10000");
  refused("$versus --threads 1025", 2, "\"1025\" must be a whole number from 1 to 1024");
  refused("OMP_THREAD_LIMIT=3 $versus --threads 4", 2, "4 were asked for, and OMP_THREAD_LIMIT grants 3");
  refused("$versus --json ''", 2, "a file is expected");
  refused("$versus --memory-share nan", 2, "must be a number from 0 to 1");
  refused("$versus --round 3", 2, "--round");
  refused("$versus \"$(printf 'a\\nb')\"", 2, "a?b");
  // Without the packages of Debian.
  shell.write(
      "without.py",
      "import os, runpy, site, sys\nsite.main = lambda: None\ndel sys.argv[0]\n"
      "sys.path[0] = os.path.dirname(sys.argv[0])\nrunpy.run_path(sys.argv[0], run_name='__main__')\n");
  refused("/usr/bin/python3 -BS without.py $versus", 1, "apt-get install python3-torch python3-h5py");
}

TEST_CASE("versus_pytorch: a program or a file that is not there is one line" * needs_pytorch()) {
  const Shell shell;
  const Ran program = run_versus(shell, "$versus --tapeline nowhere/tapeline");
  CHECK(program.code == 1);
  CHECK(one_line(program.err));
  CHECK(contains(program.err, "\"nowhere/tapeline\" is no program; build it"));
  const Ran file = run_versus(shell, "$versus --json nowhere/lines.jsonl");
  CHECK(file.code == 1);
  CHECK(one_line(file.err));
  CHECK(contains(file.err, "--json: \"nowhere/lines.jsonl\" cannot be written: No such file"));
  check_nothing_left(shell);
}

}  // namespace
}  // namespace tapeline::test

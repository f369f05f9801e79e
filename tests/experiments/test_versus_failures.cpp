#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/experiments/versus.h"

/// What versus_pytorch does with programs, files and streams that are not as they should be.
namespace tapeline::test {
namespace {

/// A program at ./fake that prints the file `version`, and `answer` for a benchmark; `otherwise` are more
/// branches of its `case`, tried first. What a benchmark is asked for needs no PyTorch when that would take
/// more than no memory at all.
void write_fake(const Shell& shell, const std::string& otherwise = "") {
  shell.write("version", "tapeline 9.9\n");
  shell.write("answer", R"({"step_seconds": 0.5, "step_peak_rss_bytes": null})");
  shell.write("fake", "#!/bin/sh\ncase \"$1 $2\" in\n" + otherwise +
                          "--version*) cat version ;;\nbench*) cat answer ;;\nesac\n");
  std::filesystem::permissions(shell.folder() / "fake", std::filesystem::perms::owner_all);
}

const std::string asked_of_a_fake = "$versus --tapeline ./fake --encodings rope --rounds 1 --memory-share 0 ";

TEST_CASE("versus_pytorch: whatever a benchmark answers is a table or one line" * needs_pytorch()) {
  const Shell shell;
  write_fake(shell);
  const Ran good = run_versus(shell, asked_of_a_fake + "--cases tiny");
  CAPTURE(good.err);
  REQUIRE(good.code == 0);
  CHECK(contains(good.out, "tiny  rope        500.0"));

  const std::vector<std::pair<std::string, std::string>> answers{
      {"", "printed nothing; expected JSON"},
      {"hello \x1b[31m\xff", "printed \"hello ?[31m"},
      {std::string(100000, '['), "expected JSON"},
      {"[]", "answered []; expected an object with \"step_seconds\""},
      {"null", "answered null; expected an object"},
      {"3", "answered 3; expected an object"},
      {R"({"step_seconds": 0})", "answered 0 as step_seconds; expected seconds, a number from 1e-09"},
      {R"({"step_seconds": -1})", "answered -1 as step_seconds"},
      {R"({"step_seconds": NaN})", "as step_seconds; expected seconds"},
      {R"({"step_seconds": Infinity})", "as step_seconds; expected seconds"},
      {R"({"step_seconds": 1e308})", "answered 1e+308 as step_seconds"},
      {R"({"step_seconds": "x"})", "answered \"x\" as step_seconds"},
      {R"({"step_seconds": true})", "answered true as step_seconds"},
      {R"({"step_seconds": )" + std::string(400, '9') + "}", "as step_seconds; expected seconds"},
      {R"({"step_seconds": )" + std::string(5000, '9') + "}", "expected JSON"},
      {R"({"step_seconds": 1, "step_peak_rss_bytes": "x"})",
       "as step_peak_rss_bytes; expected bytes or null"}};
  for (const auto& [answer, part] : answers) {
    shell.write("answer", answer);
    const Ran ran = run_versus(shell, asked_of_a_fake + "--cases tiny --json lines.jsonl");
    CAPTURE(ran.err);
    CHECK(ran.code == 1);
    CHECK(one_line(ran.err));
    CHECK(contains(ran.err, "/fake bench step\" "));
    CHECK(contains(ran.err, part));
    CHECK_FALSE(contains(ran.err, "\x1b"));
    CHECK(contains(ran.out, "\ntiny  rope "));
    CHECK(contains(ran.out, " failed\n"));
    CHECK(json_lines(read_file((shell.folder() / "lines.jsonl").string())).at(0).at("status") == "failed");
  }
  check_nothing_left(shell);
}

TEST_CASE("versus_pytorch: a program that is no tapeline is one line" * needs_pytorch()) {
  const Shell shell;
  write_fake(shell);
  shell.write("lines.jsonl", "of another day\n");
  for (const std::string version :
       {"", "tape\x1b[31mline 9\n", "tapeline \xff\xfe\n", "true (GNU coreutils) 9.1\n", "tapeline 9.9"}) {
    shell.write("version", version);
    const Ran ran = run_versus(shell, asked_of_a_fake + "--cases tiny --json lines.jsonl");
    CAPTURE(ran.err);
    CHECK(ran.code == 1);
    CHECK(ran.out.empty());
    CHECK(one_line(ran.err));
    CHECK(contains(ran.err, "expected a line like \"tapeline 1.2.3\""));
    CHECK_FALSE(contains(ran.err, "\x1b"));
  }
  CHECK(read_file((shell.folder() / "lines.jsonl").string()) == "of another day\n");
}

TEST_CASE("versus_pytorch: positions that a window does not have are one line" * needs_pytorch()) {
  const Shell shell;
  write_fake(shell,
             "evaluate*) echo '{\"results\": [{\"scored_tokens\": 64, \"nll\": 1, \"positions\": "
             "[{\"first\": 1, \"last\": 17, \"nll\": 1}]}]}' ;;\n"
             "*) exec \"$program\" \"$@\" ;;\n");
  const Ran ran = run_versus(shell,
                             "export program=\"$tapeline\"\n$versus --tapeline ./fake --cases tiny "
                             "--rounds 1 --encodings " +
                                 any_kind());
  CAPTURE(ran.err);
  CHECK(ran.code == 1);
  CHECK(one_line(ran.err));
  CHECK(
      contains(ran.err, "answered 17 as results[0].positions[0].last; expected a position, a whole number"));
}

TEST_CASE("versus_pytorch: a case that fails leaves the others" * needs_pytorch()) {
  const Shell shell;
  write_fake(shell,
             "'bench step') echo 'no room' >&2; exit 7 ;;\n"
             "'bench evaluate') echo '{\"lengths\": [{\"seconds\": 0.25}]}'; exit ;;\ntrain*) exit 0 ;;\n");
  const Ran ran = run_versus(shell, asked_of_a_fake + "--cases tiny,tiny-eval,tiny --json lines.jsonl");
  CAPTURE(ran.err);
  CHECK(ran.code == 1);
  CHECK(one_line(ran.err));
  CHECK(contains(ran.err, "tiny rope: \""));
  CHECK(contains(ran.err, "/fake bench step\" ended with 7: no room"));
  CHECK(contains(ran.out, "tiny-eval  rope        250.0"));
  const std::vector<nlohmann::json> lines = json_lines(read_file((shell.folder() / "lines.jsonl").string()));
  REQUIRE(lines.size() == 2);  // what is named twice is measured once
  CHECK(lines[0].at("status") == "failed");
  CHECK(lines[1].at("status") == "not started");

  const Ran nothing = run_versus(shell, "$versus --tapeline ./fake --encodings rope,alibi --cases tiny");
  CAPTURE(nothing.err);
  CHECK(nothing.code == 1);
  CHECK(contains(nothing.err, "tiny rope: "));
  CHECK(contains(nothing.err, "tiny alibi: "));
  CHECK(contains(nothing.err, "ended with 0 and left no checkpoint"));
  CHECK(contains(nothing.out, "failed"));
  check_nothing_left(shell);
}

TEST_CASE("versus_pytorch: the file of --json is replaced whole, and links stay" * needs_pytorch()) {
  const Shell shell;
  write_fake(shell, "bench*) cat lines.jsonl > seen; cat answer; exit ;;\n");
  shell.write("place.jsonl", "of another day\n");
  const Ran ran = run_versus(shell, "ln -s place.jsonl lines.jsonl; " + asked_of_a_fake +
                                        "--cases tiny --json lines.jsonl >out && readlink lines.jsonl");
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.out == "place.jsonl\n");
  CHECK(read_file((shell.folder() / "seen").string()) == "of another day\n");
  CHECK(json_lines(read_file((shell.folder() / "place.jsonl").string())).size() == 1);
  for (const std::string& name : names_in(shell.folder())) CHECK_FALSE(name.starts_with(".versus"));
}

TEST_CASE("versus_pytorch: streams that take nothing" * needs_pytorch()) {
  const Shell shell;
  write_fake(shell);
  const std::string tiny = asked_of_a_fake + "--cases tiny ";
  for (const std::string& script :
       std::vector<std::string>{"$versus -h >/dev/full", "$versus -h >&-", tiny + ">/dev/full", tiny + ">&-",
                                tiny + "--json - >/dev/full"}) {
    const Ran ran = run_versus(shell, script);
    CAPTURE(script);
    CAPTURE(ran.err);
    CHECK(ran.code == 1);
    CHECK(one_line(ran.err));
    CHECK(contains(ran.err, "versus_pytorch: standard output: cannot be written: "));
  }
  for (const std::string& script :
       {tiny + "2>&-", tiny + "2>/dev/full", tiny + "--json - 2>/dev/full",
        "{ " + tiny + "; echo $? >&2; } 2>code | true; read code <code; exit $code"}) {
    const Ran ran = run_versus(shell, script);
    CAPTURE(script);
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    CHECK(ran.err.empty());
  }
  // Standard output is not blamed for what it did not do.
  const Ran open = run_versus(shell, "ulimit -n 9; " + tiny);
  CHECK(open.code == 1);
  CHECK(one_line(open.err));
  CHECK_FALSE(contains(open.err, "standard output"));
  check_nothing_left(shell);
}

}  // namespace
}  // namespace tapeline::test

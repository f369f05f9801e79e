#include <doctest/doctest.h>

#include "tests/experiments/shell.h"

/// The program that compares the encodings with files of reference values.
namespace tapeline::test {
namespace {

/// A file with one case: the slopes of two heads, 1/16 and 1/256, as given.
std::string slopes(const std::string& first, const std::string& shape = "[2]") {
  return R"({"cases": {"two_heads": {"params": {"encoding": "alibi", "heads": 2}, "arrays": {"slopes": {"shape": )" +
         shape + R"(, "data": [)" + first + R"(, 0.00390625]}}}}})";
}

/// The program run on a file of this content.
Ran run(const Shell& shell, const std::string& content, const std::string& options = "") {
  shell.write("case.json", content);
  return shell("'" TAPELINE_CONFORMANCE "' " + options + " case.json");
}

void check_error(const Ran& ran, const std::string& part) {
  CAPTURE(ran.err);
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(one_line(ran.err));
  CHECK(contains(ran.err, part));
}

TEST_CASE("conformance: a case that holds, one past its limit, one that cannot be run") {
  const Shell shell;
  const Ran holds = run(shell, slopes("0.0625"));
  CHECK(holds.code == 0);
  CHECK(contains(holds.out, "two_heads  ok    slopes"));
  CHECK(contains(holds.out, "1 cases, 1 ok, 0 past a limit, 0 not run"));
  CHECK_FALSE(contains(run(shell, slopes("0.0625"), "--quiet").out, "two_heads"));

  // A hundred times the limit of double precision, far below that of single precision.
  const Ran past = run(shell, slopes("0.062500001"), "--quiet");
  CHECK(past.code == 1);
  CHECK(contains(past.out, "two_heads  FAIL  slopes 1.0e-09!"));
  CHECK_FALSE(contains(past.out, "e-09! 1.0e-09!"));
  CHECK(contains(past.out, "1 cases, 0 ok, 1 past a limit, 0 not run"));

  // A gradient that nothing computes must not pass unseen.
  const std::string with_gradient =
      R"({"cases": {"x": {"params": {"encoding": "alibi", "heads": 2}, "arrays": {"slopes": {"shape": [2], "data": )"
      R"([0.0625, 0.00390625]}, "d_gamma": {"shape": [1], "data": [1]}}}}})";
  const Ran unseen = run(shell, with_gradient);
  CHECK(unseen.code == 1);
  CHECK(contains(unseen.out, "it expects the gradient \"d_gamma\""));

  const Ran unknown = run(shell, R"({"cases": {"x": {"params": {"encoding": "unheard_of"}, "arrays": {}}}})");
  CHECK(unknown.code == 1);
  CHECK(contains(unknown.out, "x  FAIL  not run: encoding \"unheard_of\""));
}

TEST_CASE("conformance: an array of other axes than a case needs is told, whichever it is") {
  const Shell shell;
  for (const char* array : {"x", "pe", "bias", "Wr", "Kr"}) {
    for (const char* of : {R"({"shape": [], "data": [1]})", R"({"shape": [2], "data": [1, 2]})"}) {
      CAPTURE(std::string(array));
      const std::string others =
          R"("d": {"shape": [1], "data": [1]}, "out": {"shape": [1, 1, 1], "data": [1]}, )"
          R"("q": {"shape": [1, 1, 1], "data": [1]}, "k": {"shape": [1, 1, 1], "data": [1]}, )"
          R"("v": {"shape": [1, 1, 1], "data": [1]}, "dout": {"shape": [1, 1, 1], "data": [1]}, )";
      const bool alone = std::string(array) == "pe" || std::string(array) == "bias";
      const std::string content = R"({"cases": {"odd": {"params": {"encoding": "kerple_log"}, "arrays": {)" +
                                  (alone ? std::string(R"("d": {"shape": [1], "data": [1]}, )") : others) +
                                  '"' + array + R"(": )" + of + "}}}}";
      const Ran ran = run(shell, content);
      CHECK(ran.code == 1);
      CHECK(contains(ran.out, "odd  FAIL"));
    }
  }
}

TEST_CASE("conformance: cases are chosen by name, and one name at least must be there") {
  const Shell shell;
  CHECK(run(shell, slopes("7"), "--case 'two_*'").code == 1);
  check_error(run(shell, slopes("7"), "--case three"), "no case of the files is named three");
}

TEST_CASE("conformance: a file or command line that cannot be understood is one line and exit code 2") {
  const Shell shell;
  check_error(shell("'" TAPELINE_CONFORMANCE "'"), "no file is given");
  check_error(shell("'" TAPELINE_CONFORMANCE "' missing.json"), "missing.json");
  check_error(run(shell, slopes("1"), "--wrong"), "--wrong is unknown");
  check_error(run(shell, "{"), "case.json: no JSON");
  check_error(run(shell, "[]"), "case.json");
  check_error(run(shell, R"({"cases": {}})"), "case.json holds no case");
  check_error(run(shell, R"({"cases": {"x": {"params": {}, "arrays": {}}}})"), "no \"encoding\"");
  check_error(run(shell, slopes("1", "[3]")), "array \"slopes\": 2 numbers for shape [3]; it needs 3");
  check_error(run(shell, slopes("1", "[-1]")), "shape [-1]");
  check_error(run(shell, slopes("\"a\"")), "holds \"a\"");
  check_error(run(shell, slopes("null")), "holds null");
  CHECK(shell("'" TAPELINE_CONFORMANCE "' --help").code == 0);
}

}  // namespace
}  // namespace tapeline::test

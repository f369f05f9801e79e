#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

/// What nobody can have meant: one short line that names it, and nothing left behind.
namespace tapeline::test {
namespace {

std::string long_name(std::size_t length) { return std::string(length, 'x'); }

TEST_CASE("refusals: values, keys and words of any length make a short line") {
  const Shell shell;
  const std::string huge = "head -c 2000000 /dev/zero | tr '\\0' x";
  const auto config = [&](const std::string& before, const std::string& after) {
    return "(printf '" + before + "'; " + huge + "; printf '" + after + "') > huge.toml; ";
  };
  for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
           {"[model]\\nwidth = \"", "\"\\n"},
           {"[model]\\nnorm = \"", "\"\\n"},
           {"[model]\\nbias = [\"", "\"]\\n"},
           {"model = \"", "\"\\n"},
           {"[evaluate]\\nlengths = [\"", "\"]\\n"},
           {"[evaluate]\\nsliding_up_to = \"", "\"\\n"},
           {"[positional]\\nkind = \"", "\"\\n"},
           {"[positional.sinusoidal]\\nscale = \"", "\"\\n"},
           {"[compare]\\nvariant = \"", "\"\\n"},
           {"[[compare.variant]]\\nname = \"a\"\\nmodel.", " = 1\\n"},
           {"[[compare.variant]]\\nname = \"/", "\"\\n"},
           {"[[compare.evaluation]]\\nname = \"a\"\\nof = \"", "\"\\n"},
           {"[", "]\\na = 1\\n"},
           {"", " = 1\\n"},
           {"[model]\\nwidth = ", "\\n"},
       }) {
    CAPTURE(before);
    const Ran ran = shell(config(before, after) + "$tapeline train huge.toml --dry-run");
    check_refused(ran, 2, {});
    CHECK(ran.err.size() < 600);
  }
  const std::string word = "\"$(head -c 100000 /dev/zero | tr '\\0' x)\"";
  for (const std::string& line : std::vector<std::string>{
           word, "train --" + word, "train --preset " + word, "train --set " + word, "train --set a=" + word,
           "train --set model.width=" + word, "train --set " + word + "=1", "train --seed " + word,
           "encodings " + word, "bench " + word, "bench step --repeats " + word,
           "encodings " + any_kind() + " " + word, "generate x --prompt x --tokens " + word}) {
    CAPTURE(line);
    check_refused(shell("$tapeline " + line), 2, {});
  }
  check_refused(shell("$tapeline train --set model.norm=\"$(printf 'a\\033[31m\\tb')\""), 2, {"model.norm"});
}

TEST_CASE("refusals: a variable of the environment that is no key") {
  const Shell shell;
  const auto train = [&](const std::string& setting) {
    return shell("env '" + setting + "' $tapeline train $small --out run");
  };
  check_refused(train("TAPELINE_X=1"), 2, {"TAPELINE_X"});
  check_refused(train("TAPELINE_=1"), 2, {"environment TAPELINE_"});
  check_refused(train("TAPELINE_MODEL=3"), 2, {"environment TAPELINE_MODEL", "section"});
  check_refused(train("TAPELINE_MODEL_WIDTH=3"), 2,
                {"TAPELINE_MODEL_WIDTH", "model.width", "two underscores"});
  check_refused(train("TAPELINE_MODEL__WIDHT=3"), 2, {"did you mean \"TAPELINE_MODEL__WIDTH\"?"});
  check_refused(train("TAPELINE_MODEL_WIDHT=3"), 2, {"did you mean \"TAPELINE_MODEL__WIDTH\"?"});
  CHECK(names_in(shell.folder()).count("run") == 0);
}

TEST_CASE("refusals: what was refused stands in nobody's way" * needs({"learned", "rope", "none"})) {
  const Shell shell;
  const auto corrected = [&](const std::string& command, const std::string& wrong, const std::string& right) {
    CAPTURE(command);
    CAPTURE(wrong);
    const Ran refused = shell("$tapeline " + command + " " + wrong + " --quiet");
    CAPTURE(refused.err);
    CHECK((refused.code == 1 || refused.code == 2));
    CHECK(one_line(refused.err));
    const Ran then = shell("$tapeline " + command + " " + right + " --quiet; rm -rf run");
    CAPTURE(then.err);
    CHECK(then.code == 0);
  };
  const std::string train = "train $small --set train.steps=1 --out run";
  const std::string learned = "--set positional.kind=learned --set positional.learned.rows=";
  REQUIRE(shell("$tapeline train $small --set train.steps=1 --out base --quiet").code == 0);
  corrected(train, learned + "4", learned + "16");
  corrected(train, "--set positional.rope.fraction=0.3", "--set positional.rope.fraction=1.0");
  corrected(train, "--from nowhere", "--from base");
  corrected(train, "--from text.txt", "--from base");
  corrected(train, "--from base --set model.width=32", "--from base");
  corrected("train $model --set train.steps=1 --out run", "--text nowhere.txt", "--text text.txt");
  corrected("train $model --set train.steps=1 --out run", "--text base/checkpoints/step-00000001.h5",
            "--text text.txt");
  corrected(train, "--set evaluate.lengths=1000x", "--set evaluate.lengths=1x");
  corrected(train, "--set data.block=64", "");
  const std::string compare =
      "compare $small --set train.steps=1 --encodings none,learned --seeds 1 --out run";
  corrected(compare, "--set positional.learned.rows=4", "--set positional.learned.rows=16");
  corrected(compare, "--set evaluate.lengths=1000x", "--set evaluate.lengths=1x");
  check_refused(shell("$tapeline " + compare + " --set positional.learned.rows=4"), 2,
                {"variant \"learned\"", "positional.learned.rows = 4"});
}

TEST_CASE("refusals: paths that no file system takes") {
  const Shell shell;
  const std::string name = long_name(300);
  for (const std::string& line :
       {"train $small --out " + name, "compare $small --out " + name, "prepare text.txt --out " + name,
        "train --dry-run " + name, "train $model --text " + name, "train $small --out run --from " + name,
        "evaluate " + name, "generate --prompt x " + name, "prepare --out x " + name}) {
    CAPTURE(line);
    const Ran ran = shell("$tapeline " + line);
    CHECK((ran.code == 1 || ran.code == 2));
    check_refused(ran, ran.code, {name});
    CHECK((contains(ran.err, "File name too long") || contains(ran.err, "there is no such file")));
    CHECK_FALSE(contains(ran.err, "filesystem error"));
  }
}

TEST_CASE("refusals: what a trained model cannot be evaluated with" * needs({"rope"})) {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --set train.steps=1 --out run --quiet").code == 0);
  for (const char* change : {"rope.pairing=interleaved", "rope.fraction=0.5"}) {
    check_refused(shell("$tapeline evaluate run --positional " + std::string(change)), 2,
                  {"--positional sets positional.rope.", "cannot change any more",
                   "of positional.rope these can: base, scaling"});
  }
  CHECK(shell("$tapeline evaluate run --lengths 1x --positional rope.pairing=half --quiet").code == 0);
  CHECK(shell("$tapeline evaluate run --lengths 1x --positional rope.base=500 --quiet").code == 0);

  check_refused(shell("$tapeline evaluate run --stride 17 --lengths 1x,2x"), 2,
                {"--stride 17 is above the length 16"});
  CHECK(shell("$tapeline evaluate run --stride 16 --lengths 1x,2x --quiet").code == 0);
  CHECK(shell("$tapeline evaluate run --lengths 4 --quiet").code == 0);  // half the trained length, cut
}

TEST_CASE("refusals: a comparison whose variants do not fit each other is a comparison" * needs({"alibi"})) {
  const Shell shell;
  const Ran ran = shell(
      "$tapeline compare $small --set train.steps=1 --seeds 1 --out run --quiet --set 'compare.variant="
      "[{name = \"a\", model.width = 24, model.heads = 3, positional.kind = \"alibi\"}, "
      "{name = \"b\", model.width = 32, positional.kind = \"alibi\"}]'");
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they reserve more than any limit
TEST_CASE("refusals: too little memory names what it was for") {
  const Shell shell;
  check_refused(shell("(ulimit -v 1500000; $tapeline train $small --set model.width=4096 "
                      "--set model.layers=2 --out run)"),
                1, {"train: there is not enough memory for ", " GB more were asked for"});
  CHECK(names_in(shell.folder()).count("run") == 0);
}
#endif

}  // namespace
}  // namespace tapeline::test

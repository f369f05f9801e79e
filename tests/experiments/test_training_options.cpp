#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/files.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

/// The options of training as someone at a shell sees them.
namespace tapeline {
namespace {

using test::contains;
using test::one_line;
using test::Ran;
using test::Shell;

// 13 characters, one of them two bytes long.
struct CharacterShell : Shell {
  CharacterShell() {
    std::string text;
    while (text.size() < 12000)
      text +=
          "lux \xC3\xA6"
          "terna sit. ";
    write_file(folder() / "chars.txt", text);
  }
  Ran train(const std::string& rest) const {
    return (*this)(
        "$tapeline train --text chars.txt $model --set train.steps=20 "
        "--set data.tokenizer=chars --out r --quiet " +
        rest);
  }
};

TEST_CASE("characters: trained, evaluated and continued by the vocabulary of the checkpoint") {
  const CharacterShell shell;
  const Ran trained = shell.train("--json");
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const std::string config = read_file(shell.folder() / "r/config.toml");
  CHECK(contains(config, "vocabulary = 17"));  // 13 characters, four for unknown ones

  const Ran made = shell("$tapeline generate r --prompt 'l\xC3\xA6' --tokens 30 --json --quiet");
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  const auto json = nlohmann::json::parse(made.out);
  CHECK(json["tokens"].size() == 30);
  CHECK(json["prompt"] == "l\xC3\xA6");
  const Ran strange = shell("$tapeline generate r --prompt 'lux zita'");
  CHECK(strange.code == 2);
  CHECK(one_line(strange.err));
  CHECK(contains(strange.err, "--prompt"));
  CHECK(contains(strange.err, "\"z\" (U+007A)"));

  CHECK(shell("$tapeline generate r --prompt '\xEF\xBB\xBF'").code == 2);

  const Ran evaluated = shell("$tapeline evaluate r --json --quiet --protocol nonoverlapping");
  CAPTURE(evaluated.err);
  REQUIRE(evaluated.code == 0);
  const auto result = nlohmann::json::parse(evaluated.out)["results"][0];
  CHECK(result["scored_bytes"].get<int>() > result["scored_tokens"].get<int>());

  // The same letters in another order are another text, and fine; new ones are named.
  CHECK(shell("printf 'sit lux sit lux sit lux' > o.txt; $tapeline evaluate r --text o.txt --quiet").code ==
        0);
  const Ran other = shell("printf 'sit luz' > o.txt; $tapeline evaluate r --text o.txt --quiet");
  CHECK(other.code == 1);
  CHECK(one_line(other.err));
  CHECK(contains(other.err, "\"z\" (U+007A) (the first at offset 6)"));
}

TEST_CASE("characters: a text that has changed is refused by its new letters, bad bytes by their place") {
  const CharacterShell shell;
  REQUIRE(shell.train("").code == 0);
  const Ran resumed = shell(
      "sed s/lux/luz/g chars.txt > new.txt && mv new.txt chars.txt; $tapeline train --text "
      "chars.txt $model --set train.steps=20 --set data.tokenizer=chars --out r --resume "
      "--quiet");
  CHECK(resumed.code == 1);
  CHECK(one_line(resumed.err));
  CHECK(contains(resumed.err, "\"z\" (U+007A)"));
  const Ran bad = shell(
      "head -c 7047 text.txt > bad.txt; printf '\\222 and on' >> bad.txt; $tapeline train --text "
      "bad.txt $model --set train.steps=1 --set data.tokenizer=chars --out b --quiet");
  CHECK(bad.code == 1);
  CHECK(one_line(bad.err));
  CHECK(contains(bad.err, "0x92 at offset 7047"));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "b"));
}

TEST_CASE("characters: --dry-run knows their number, prepare does not, an own number is refused") {
  const CharacterShell shell;
  const Ran dry = shell.train("--dry-run");
  CHECK(dry.code == 0);
  CHECK(contains(dry.out, "vocabulary = 17"));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "r"));
  const Ran prepared = shell("$tapeline prepare chars.txt --tokenizer chars --out o.h5");
  CHECK(prepared.code == 2);
  CHECK(one_line(prepared.err));
  const Ran own = shell.train("--set data.vocabulary=300");
  CHECK(own.code == 2);
  CHECK(one_line(own.err));
  CHECK(contains(own.err, "makes 17 tokens"));
  const Ran compared = shell(
      "$tapeline compare --text chars.txt $model --set train.steps=2 --set "
      "data.tokenizer=chars --encodings " +
      test::any_kind() + " --seeds 1 --out c --quiet");
  CAPTURE(compared.err);
  CHECK(compared.code == 0);
}

TEST_CASE("train --budget: saved, said, exit 0, and --resume goes on") {
  const Shell shell;
  const Ran stopped = shell("$tapeline train $small --out r --quiet --budget 0.000001s");
  CAPTURE(stopped.err);
  CHECK(stopped.code == 0);
  CHECK(contains(stopped.out, "stopped by --budget after step 1 of 20"));
  CHECK(contains(stopped.out, "--resume"));
  const Ran json = shell("$tapeline train $small --out r --resume --quiet --budget 0.000001s --json");
  CHECK(nlohmann::json::parse(json.out)["complete"] == false);
  CHECK(nlohmann::json::parse(json.out)["steps"] == 2);
  const Ran rest = shell("$tapeline train $small --out r --resume --quiet --budget 1h");
  CHECK(rest.code == 0);
  CHECK_FALSE(contains(rest.out, "stopped"));
  shell("$tapeline train $small --out whole --quiet");
  CHECK(read_file(shell.folder() / "r/checkpoints/step-00000020.h5") ==
        read_file(shell.folder() / "whole/checkpoints/step-00000020.h5"));
  for (const char* budget : {"10", "soon", "-1m", "''"}) {
    const Ran wrong = shell(std::string("$tapeline train $small --out w --budget ") + budget);
    CHECK(wrong.code == 2);
    CHECK(one_line(wrong.err));
  }
}

TEST_CASE("training options: --dry-run shows them, and a kind that is none suggests the nearest") {
  const Shell shell;
  const Ran shown =
      shell("$tapeline train $small --dry-run --set optimizer.kind=lion --set schedule.kind=wsd");
  CHECK(shown.code == 0);
  for (const char* part :
       {"kind = \"lion\"", "momentum = 0.9", "kind = \"wsd\"", "decay = 0.2", "decay_shape = \"linear\""})
    CHECK(contains(shown.out, part));
  const Ran wrong = shell("$tapeline train $small --set optimizer.kind=lyon");
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.err, "did you mean \"lion\"?"));
  CHECK(contains(shell("$tapeline train $small --set schedule.kind=invers_sqrt").err,
                 "did you mean \"inverse_sqrt\"?"));
  CHECK(contains(shell("$tapeline train $small --set data.tokenizer=char").err, "did you mean \"chars\"?"));
}

}  // namespace
}  // namespace tapeline

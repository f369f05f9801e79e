#include <doctest/doctest.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"
#include "train/checkpoint.h"

namespace tapeline {
namespace {

using namespace test;

TEST_CASE("train, evaluate, generate: one model from text to text" *
          needs({"learned", "alibi", "rope", "none"})) {
  const Shell shell;
  const Ran trained = shell("$tapeline train $small --set positional.kind=learned --out run");
  CHECK(trained.err.find_first_of("\r\x1b") == std::string::npos);
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.out, "run/checkpoints/step-00000020.h5"));
  CHECK(contains(trained.out, "tapeline evaluate run"));
  CHECK(std::filesystem::exists(shell.folder() / "run" / "config.toml"));

  // The folder is taken; the same configuration may go on, another one may not.
  const Ran again = shell("$tapeline train $small --set positional.kind=learned --out run");
  CHECK(again.code == 2);
  CHECK(contains(again.err, "--resume"));
  CHECK(one_line(again.err));
  const Ran other = shell("$tapeline train $small --set positional.kind=alibi --out run --resume");
  CHECK(other.code == 2);
  CHECK(contains(other.err, "positional.kind"));
  CHECK(shell("$tapeline train $small --set positional.kind=learned --out run --resume --quiet").code == 0);

  // The folder knows its configuration; what is said beside it must agree.
  CHECK(shell("$tapeline train --out run --resume --quiet").code == 0);
  const Ran contrary = shell("$tapeline train --out run --resume --set model.width=24");
  CHECK(contrary.code == 2);
  CHECK(contains(contrary.err, "model.width"));

  SUBCASE("evaluate") {
    const Ran table = shell("$tapeline evaluate run");
    CHECK(table.code == 0);
    CHECK(contains(table.out, "refused"));
    CHECK(contains(table.out, "nats/token"));
    const Ran named = shell("$tapeline evaluate run --lengths 16,32 --protocol nonoverlapping --json");
    CHECK(named.code == 1);
    CHECK(contains(named.err, "evaluate: --lengths names 32, refused by the model as the results tell\n"));
    CHECK(named.err.find("past them") == std::string::npos);  // it is in the result
    const auto json = nlohmann::json::parse(named.out);
    REQUIRE(json.at("results").size() == 2);
    CHECK(json.at("results")[0].at("status") == "ok");
    CHECK(json.at("results")[0].at("scored_tokens").get<int>() > 0);
    CHECK(json.at("results")[1].at("status") == "refused");
    CHECK(json.at("results")[1].at("reason") == "learned positions end at row 16, length 32 is past them");
    const Ran refused =
        shell("$tapeline evaluate run --lengths 2x,64 --protocol nonoverlapping --json --quiet");
    CHECK(refused.code == 1);
    CHECK(contains(refused.err, "--lengths names 32 and 64, refused"));
    CHECK(nlohmann::json::parse(refused.out).at("results")[1].at("status") == "refused");
    // What is refused is not measured, in however long a text.
    CHECK(
        shell("printf 'hello world, hello' | $tapeline evaluate run --text - --lengths 16,64 --quiet").err ==
        "tapeline: evaluate: --lengths names 64, refused by the model as the results tell\n");

    const Ran few = shell(
        "printf hello | $tapeline evaluate run --text - --lengths 16 --protocol nonoverlapping --json "
        "--quiet");
    CHECK(few.code == 0);
    CHECK(one_line(few.err));
    CHECK(contains(few.err,
                   "\"-\" has 5 tokens, too few for a window of length 16: what is told there is measured in "
                   "shorter windows; give 17 tokens or more, or shorter --lengths"));
    CHECK(shell("printf hello | $tapeline evaluate run --text - --lengths 4 --quiet").err.empty());
    CHECK(contains(shell("printf hello | $tapeline evaluate run --text - --lengths 5,4,8 --quiet").err,
                   "length 5 or 8: "));
    CHECK(nlohmann::json::parse(few.out).at("results")[0].at("scored_tokens") == 4);
    const Ran none = shell("printf h | $tapeline evaluate run --text - --lengths 16");
    CHECK(none.code == 1);
    CHECK(one_line(none.err));
    const Ran all = shell(
        "head -c 20 text.txt > t; $tapeline evaluate run --text t --lengths 8 --stride 4 --scored all "
        "--protocol sliding --json");
    CHECK(all.code == 0);
    CHECK(nlohmann::json::parse(all.out).at("results")[0].at("scored_tokens") == 19);
  }
  SUBCASE("generate") {
    const std::string ask = "$tapeline generate run --quiet --prompt 'let ' --tokens 12 ";
    const Ran greedy = shell(ask + "--temperature 0");
    CHECK(greedy.code == 0);
    CHECK(greedy.out.starts_with("let "));
    CHECK(shell(ask + "--top-k 1").out == greedy.out);
    CHECK(shell(ask + "--seed 3").out == shell(ask + "--seed 3 --top-k 100000").out);
    const auto json = nlohmann::json::parse(shell(ask + "--temperature 0 --json").out);
    CHECK("let " + json.at("text").get<std::string>() + "\n" == greedy.out);
    CHECK(json.at("tokens").size() == 12);
    CHECK(shell(ask + "--temperature -1").code == 2);
    CHECK(shell("$tapeline generate run --prompt ''").code == 2);
    CHECK(shell(ask + "--tokens 99999999999999999999").code == 2);
    const Ran past = shell("$tapeline generate run --prompt 'let there be ' --tokens 30");
    CHECK(past.code == 0);
    CHECK(contains(past.err, "end at row 16"));
  }
  SUBCASE("what cannot be changed after training") {
    for (const char* change : {"kind=alibi", "kind=none", "rope.base=3"}) {
      const Ran changed = shell("$tapeline evaluate run --positional " + std::string(change));
      CHECK(changed.code == 2);
      CHECK(contains(changed.err, "was trained with learned positions"));
      CHECK(one_line(changed.err));
    }
    const Ran clamped = shell("$tapeline evaluate run --lengths 2x --positional learned.beyond=clamp");
    CHECK(clamped.code == 0);
    CHECK(contains(clamped.out, "learned positions (beyond = \"clamp\")"));
  }
  SUBCASE("damage") {
    const auto bytes = std::filesystem::file_size(shell.folder() / "run/checkpoints/step-00000020.h5");
    for (const auto size : {std::uintmax_t{0}, std::uintmax_t{1}, std::uintmax_t{96}, bytes / 2, bytes - 1}) {
      CAPTURE(size);
      const Ran cut = shell("rm -rf cut; cp -r run cut; truncate -s " + std::to_string(size) +
                            " cut/checkpoints/step-00000020.h5; $tapeline evaluate cut");
      check_refused(cut, 1, {"cut/checkpoints/step-00000020.h5"});
      check_refused(shell("$tapeline train --out cut --resume --quiet"), 1,
                    {"cut/checkpoints/step-00000020.h5"});
    }
    CHECK(shell("$tapeline generate nowhere --prompt x").code == 1);
  }
}

TEST_CASE("--resume goes on with what is there, and with nothing else") {
  const Shell shell;
  check_refused(shell("$tapeline train --out none --resume"), 2, {"\"none\" holds no run to go on with"});
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "none"));
  REQUIRE(shell("$tapeline train $small --threads 1 --out run --quiet").code == 0);

  // Another number of threads is no other run.
  const Ran threads = shell("$tapeline train --out run --resume --threads 2 --quiet");
  CHECK(threads.code == 0);

  // What cannot be gone on with stays as it is.
  check_refused(shell("cp -r run lost; rm lost/config.toml; $tapeline train $small --set model.width=32 "
                      "--resume --out lost"),
                2, {"another configuration"});
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "lost/config.toml"));
  const Ran anew =
      shell("cp -r run bare; rm bare/checkpoints/*; $tapeline train --resume --out bare --quiet");
  CHECK(anew.code == 0);
  CHECK(contains(anew.err, "holds no checkpoint: the run begins anew"));
}

TEST_CASE("a run and a comparison do not share a folder") {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --set compare.seeds=1 --out run --quiet").code == 0);
  check_refused(shell("$tapeline compare $small --set compare.seeds=1 --out run --quiet"), 2,
                {"holds a single run"});
  REQUIRE(shell("$tapeline compare $small --set train.steps=2 --seeds 1 --out both --quiet").code == 0);
  check_refused(shell("$tapeline train $small --set train.steps=2 --set compare.seeds=1 --out both --resume"),
                2, {"holds a comparison"});
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "both/checkpoints"));
}

TEST_CASE("the program waits shortly for its threads, unless it is told how") {
  const Shell shell;
  const auto environment = [&](const std::string& set) {
    return shell(set +
                 " $tapeline train $long --out run$$ --quiet & pid=$!\n"
                 "while [ ! -s run$$/metrics.jsonl ]; do sleep 0.05; done\n"
                 "tr '\\0' '\\n' < /proc/$pid/environ; kill -9 $pid; wait $pid; rm -r run$$")
        .out;
  };
  CHECK(contains(environment("env -u OMP_WAIT_POLICY"), "GOMP_SPINCOUNT=1000"));
  CHECK_FALSE(contains(environment("OMP_WAIT_POLICY=active"), "GOMP_SPINCOUNT"));
  CHECK(contains(environment("GOMP_SPINCOUNT=7"), "GOMP_SPINCOUNT=7"));
}

TEST_CASE("a text of one's own from standard input becomes a model that writes") {
  const Shell shell;
  const Ran trained = shell("cat text.txt | $tapeline train --text - $model --set train.steps=20 --out run");
  CHECK(trained.code == 0);
  CHECK(contains(trained.out, "--text FILE"));
  const Ran written = shell("$tapeline generate run --prompt 'let ' --tokens 10 --quiet");
  CHECK(written.code == 0);
  CHECK(written.out.starts_with("let "));
  check_refused(shell("$tapeline evaluate run"), 2, {"standard input", "--text"});
}

TEST_CASE("evaluate: a loss that is no number is told, and fails") {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --set train.steps=2 --quiet --out run").code == 0);
  const Checkpoint whole(shell.folder() / "run/checkpoints/step-00000002.h5");
  const std::unique_ptr<Transformer> model = whole.make_model();
  Parameter& gain = *model->parameters().find("final_norm/gain");
  std::fill_n(gain.mutable_value().data, gain.value().size(), std::numeric_limits<Real>::max());
  save_checkpoint(shell.folder() / "ill.h5", {*model, nullptr, whole.config(), whole.record()});
  const Ran ran = shell("$tapeline evaluate ill.h5 --lengths 1x --protocol nonoverlapping --quiet");
  CAPTURE(ran.err);
  CHECK(ran.code == 1);
  CHECK(one_line(ran.err));
  CHECK(contains(ran.out, "diverged"));
}

TEST_CASE("train, evaluate, generate, inspect, prepare: JSON also where a path is no UTF-8") {
  const Shell shell;
  const std::string name = "\"$(printf 'r\\377n')\"";
  const auto check_json = [&](const std::string& command) {
    CAPTURE(command);
    const Ran ran = shell("$tapeline " + command + " --json");
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    CHECK(nlohmann::json::accept(ran.out));
  };
  check_json("train $small --set train.steps=2 --out " + name);
  check_json("evaluate " + name);
  check_json("generate " + name + " --prompt let --tokens 3");
  check_json("inspect " + name);
  check_json("inspect " + name + " --verify");
  check_json("prepare text.txt --out " + name + ".h5");
}

TEST_CASE("train: a config that nests without end is refused, not followed") {
  const Shell shell;
  const Ran ran = shell(
      "{ printf '[a'; yes .a | head -n 100000 | tr -d '\\n'; printf ']\\nx = 1\\n'; } > deep.toml\n"
      "$tapeline train deep.toml --dry-run");
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, "deep.toml:1: a line with 100001 dots and brackets"));
  CHECK(one_line(ran.err));
}

TEST_CASE("train: spaces round a key and its value, and the section spelled otherwise") {
  const Shell shell;
  CHECK(shell("$tapeline train $small --set ' model.norm = \"rms\" ' --dry-run").code == 0);
  const Ran british = shell("$tapeline train $small --set optimiser.kind=lion --dry-run");
  CHECK(british.code == 2);
  CHECK(contains(british.err, "did you mean \"optimizer.kind\"?"));
}

TEST_CASE("train: --dry-run trains nothing") {
  const Shell shell;
  const Ran ran = shell("$tapeline train $small --dry-run");
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "parameters"));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "runs"));
  const auto json = nlohmann::json::parse(shell("$tapeline train $small --dry-run --json").out);
  CHECK(json.at("parameters").get<int>() > 0);
}

TEST_CASE("train: --dry-run refuses a text as the run would") {
  const Shell shell;
  shell("head -c 6 text.txt > tiny.txt");
  check_refused(shell("$tapeline train $model --text nowhere.txt --dry-run"), 1, {"nowhere.txt"});
  check_refused(shell("$tapeline train $model --text tiny.txt --dry-run"), 1, {"too small"});
  check_refused(shell("$tapeline compare $model --text nowhere.txt --dry-run"), 1, {"nowhere.txt"});
}

TEST_CASE("train: --from brings its configuration along; a preset beside it is warned of" *
          needs({"alibi", "rope"})) {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --set positional.kind=alibi --out first --quiet").code == 0);
  REQUIRE(shell("$tapeline train --from first --set train.steps=3 --out second --quiet").code == 0);
  const std::string config = read_file(shell.folder() / "second" / "config.toml");
  CHECK(contains(config, "kind = \"alibi\""));
  CHECK(contains(config, "--from (--set)"));
  REQUIRE(shell("$tapeline train --from second --out third --quiet").code == 0);
  CHECK_FALSE(contains(read_file(shell.folder() / "third" / "config.toml"), "--from (--from"));

  const Ran other = shell("$tapeline train --preset smoke --from first --out fourth --quiet");
  CHECK(other.code == 2);
  CHECK(contains(other.err, "positional.kind \"alibi\", this one has \"rope\""));
  CHECK(contains(other.err, "data.source"));
  CHECK(contains(other.err, "holds the weights of another model: model.layers 1, now 2"));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "fourth" / "config.toml"));
}

TEST_CASE("evaluate: says what its targets were chosen for") {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --out run --quiet").code == 0);
  const std::string set = shell("$tapeline evaluate run --lengths 1x,2x --quiet").out;
  CHECK(contains(set, "chosen so that 32 tokens stand before each"));
  CHECK_FALSE(contains(shell("$tapeline evaluate run --scored all --quiet").out, "chosen so that"));
}

TEST_CASE("train: a text too small is refused with the size needed") {
  const Shell shell;
  const Ran ran = shell("head -c 40 text.txt > tiny.txt; $tapeline train $model --text tiny.txt --out run");
  CHECK(ran.code == 1);
  CHECK(one_line(ran.err));
  CHECK(contains(ran.err, "40"));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "run"));
}

}  // namespace
}  // namespace tapeline

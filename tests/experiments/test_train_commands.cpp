#include <doctest/doctest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/files.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_folder.h"

/// train, evaluate and generate as someone at a shell sees them.
namespace tapeline {
namespace {

struct Ran {
  int code = 0;
  std::string out, err;
};

/// A folder of its own, in which shell commands run; $tapeline is the program, $small a small model.
class Shell {
 public:
  Shell() {
    std::string text;
    for (int i = 0; text.size() < 12000; ++i) text += i % 3 == 0 ? "let there be light, " : "and it was so. ";
    folder_.write("text.txt", text);
  }

  Ran operator()(const std::string& script) const {
    std::ofstream(folder_ / "script")
        << "cd '" << folder_.path().string() << "'\nexport XDG_CACHE_HOME=\"$PWD/cache\" OMP_NUM_THREADS=1\n"
        << "tapeline='" << TAPELINE_PROGRAM << "'\n"
        << "model='--set model.layers=1 --set model.width=16 --set model.heads=2 --set train.length=16 "
        << "--set train.tokens_per_step=64 --set evaluate.lengths=1x,2x --set evaluate.sliding_tokens=64'\n"
        << "small=\"--text text.txt $model --set train.steps=20\"\n"
        << "long=\"--text text.txt $model --set train.steps=30000\"\n"
        << script << "\n";
    const std::string script_file = (folder_ / "script").string();
    const int status =
        std::system(("sh " + script_file + " > " + script_file + ".out 2> " + script_file + ".err").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(script_file + ".out"),
            read_file(script_file + ".err")};
  }
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  test::TemporaryFolder folder_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
/// Names in a folder, hidden ones too.
std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}
bool one_line(const std::string& text) {
  return text.ends_with("\n") && std::count(text.begin(), text.end(), '\n') == 1;
}

TEST_CASE("train, evaluate, generate: one model from text to text") {
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

  SUBCASE("evaluate") {
    const Ran table = shell("$tapeline evaluate run");
    CHECK(table.code == 0);
    CHECK(contains(table.out, "refused"));
    CHECK(contains(table.out, "nats/token"));
    const Ran named = shell("$tapeline evaluate run --lengths 16,32 --protocol nonoverlapping --json");
    CHECK(named.code == 1);
    CHECK(contains(named.err, "learned positions end at row 16, length 32 is past them"));
    const auto json = nlohmann::json::parse(named.out);
    REQUIRE(json.at("results").size() == 2);
    CHECK(json.at("results")[0].at("status") == "ok");
    CHECK(json.at("results")[0].at("scored_tokens").get<int>() > 0);
    CHECK(json.at("results")[1].at("status") == "refused");

    const Ran few =
        shell("printf hello | $tapeline evaluate run --text - --lengths 16 --protocol nonoverlapping --json");
    CHECK(few.code == 0);
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
    CHECK(shell("$tapeline evaluate run --lengths 2x --positional learned.beyond=clamp").code == 0);
  }
  SUBCASE("damage") {
    const Ran cut =
        shell("head -c 3000 run/checkpoints/step-00000020.h5 > cut.h5; $tapeline evaluate cut.h5");
    CHECK(cut.code == 1);
    CHECK(contains(cut.err, "cut.h5"));
    CHECK(one_line(cut.err));
    CHECK(shell("$tapeline generate nowhere --prompt x").code == 1);
  }
}

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
  CHECK(shell(head + "$train --resume --quiet && cmp whole.h5 run/checkpoints/step-00000020.h5").code == 0);
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
  for (const char* policy : {"stop", "skip"}) {
    const Ran ran =
        shell("$tapeline train $small --set train.steps=1 --set optimizer.lr=1e300 --quiet --out run-" +
              std::string(policy) + " --set train.on_nonfinite=" + policy);
    CHECK(ran.code == 1);
    CHECK(contains(ran.err, "validation loss is"));
    CHECK(one_line(ran.err));
    CHECK_FALSE(
        std::filesystem::exists(shell.folder() / ("run-" + std::string(policy)) / "checkpoints" / "latest"));
  }
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

TEST_CASE("train: --dry-run trains nothing") {
  const Shell shell;
  const Ran ran = shell("$tapeline train $small --dry-run");
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "parameters"));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "runs"));
  const auto json = nlohmann::json::parse(shell("$tapeline train $small --dry-run --json").out);
  CHECK(json.at("parameters").get<int>() > 0);
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

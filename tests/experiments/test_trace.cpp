#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/experiments/shell.h"
#include "tests/support/small_disk.h"

/// bench step's table and --trace, as someone at a shell sees them.
namespace tapeline::test {
namespace {

int steps_in(const std::filesystem::path& file) {
  int steps = 0;
  for (const nlohmann::json& event : nlohmann::json::parse(read_file(file)))
    steps += event.value("cat", "") == "step" ? 1 : 0;
  return steps;
}

TEST_CASE("bench step: the rows of its table add up; the same in JSON; a trace of some steps") {
  const Shell shell;
  const Ran json = shell("$tapeline bench step $model --repeats 3 --json --trace trace.json");
  REQUIRE(json.code == 0);
  const nlohmann::json speed = nlohmann::json::parse(json.out);
  double seconds = 0, flops = 0;
  for (const nlohmann::json& op : speed["ops"]) {
    seconds += op["seconds"].get<double>();
    if (!op["flops"].is_null()) flops += op["flops"].get<double>();
    CHECK(op["phase"].is_null() == (op["name"] == "between ops"));
  }
  CHECK(seconds / speed["ops_seconds"].get<double>() == doctest::Approx(1));
  CHECK(flops / (1e9 * speed["gflops"].get<double>() * speed["step_seconds"].get<double>()) ==
        doctest::Approx(1));
  CHECK(speed["watch_overhead"].is_number());
  CHECK(steps_in(shell.folder() / "trace.json") == 5);

  const Ran table = shell("$tapeline bench step $model --repeats 1");
  REQUIRE(table.code == 0);
  for (const char* part : {"op ", "between ops", "batch sampling", "gradient norm", "watching the ops"}) {
    CAPTURE(part);
    CHECK(contains(table.out, part));
  }
  CHECK_FALSE(contains(table.out, "trace"));
}

TEST_CASE("train --trace: the first steps of this run, also into its folder, also when it goes on") {
  const Shell shell;
  const Ran first = shell("$tapeline train $small --out run --trace run/trace.json --quiet");
  REQUIRE(first.code == 0);
  CHECK(contains(first.out, "traced 5 steps in run/trace.json"));
  CHECK(steps_in(shell.folder() / "run/trace.json") == 5);
  const Ran fewer = shell(
      "$tapeline train $small --out cut --trace-steps 50 --trace cut.json --quiet\n"
      "$tapeline train $small --out cut --resume --trace none.json --quiet");
  REQUIRE(fewer.code == 0);
  CHECK(contains(fewer.out, "traced 20 steps in cut.json"));
  CHECK(steps_in(shell.folder() / "cut.json") == 20);
  CHECK(contains(fewer.out, "no step was made: none.json is not written"));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "none.json"));
}

TEST_CASE("train --trace: a signal cuts the trace short, it is written all the same") {
  const Shell shell;
  const Ran ran = shell(
      "$tapeline train $long --out run --trace trace.json --trace-steps 1000 --quiet & pid=$!\n"
      "while [ ! -s run/metrics.jsonl ]; do sleep 0.05; done\n"
      "kill -TERM $pid; wait $pid");
  CHECK(ran.code == 3);
  CHECK(steps_in(shell.folder() / "trace.json") >= 1);
}

TEST_CASE("--trace: a place that cannot be written is refused before anything is done") {
  const Shell shell;
  for (const char* line : {"bench step $model --trace missing/trace.json", "bench step $model --trace cache",
                           "train $small --out run --trace missing/trace.json",
                           "train $small --out run --trace cache", "train $small --out run --trace pipe"}) {
    CAPTURE(line);
    const Ran ran = shell(std::string("mkdir -p cache; test -p pipe || mkfifo pipe; $tapeline ") + line);
    CAPTURE(ran.err);
    CHECK(ran.code == 1);
    CHECK(ran.out.empty());
    CHECK(one_line(ran.err));
    CHECK(contains(ran.err, "cannot write"));
    CHECK_FALSE(std::filesystem::exists(shell.folder() / "run"));
  }
  for (const char* line :
       {"train $small --trace-steps 3", "train $small --trace t --trace-steps 0",
        "train $small --trace t --trace-steps 1001", "train $small --trace t --trace-steps few"}) {
    CAPTURE(line);
    const Ran ran = shell(std::string("$tapeline ") + line);
    CHECK(ran.code == 2);
    CHECK(one_line(ran.err));
    CHECK(contains(ran.err, "--trace-steps"));
  }
  const std::set<std::string> names = names_in(shell.folder());
  CHECK_FALSE(names.contains("t"));
  for (const std::string& name : names) CHECK_MESSAGE(!contains(name, ".tapeline-"), name);
}

TEST_CASE("--trace: what is no trace is never replaced, an older trace is") {
  const Shell shell;
  const std::filesystem::path notes = shell.folder() / "notes.json";
  for (const char* line : {"bench step $model --repeats 1", "train $small --out run --quiet"}) {
    CAPTURE(line);
    shell.write("notes.json", "[\n{\"name\": \"mine\"}\n]\n");
    const Ran refused = shell(std::string("$tapeline ") + line + " --trace notes.json");
    CHECK(refused.code == 2);
    CHECK(one_line(refused.err));
    CHECK(contains(refused.err, "notes.json"));
    CHECK(read_file(notes) == "[\n{\"name\": \"mine\"}\n]\n");
    CHECK_FALSE(std::filesystem::exists(shell.folder() / "run"));
    shell.write("notes.json", "");
    CHECK(shell("$tapeline bench step $model --repeats 1 --trace notes.json").code == 0);
    CHECK(shell("$tapeline bench step $model --repeats 1 --trace notes.json").code == 0);
    CHECK(steps_in(notes) == 5);
  }
}

TEST_CASE("--trace: not onto what the run itself keeps") {
  const Shell shell;
  for (const char* file : {"run", "run/", "run/config.toml", "./run/metrics.jsonl", "run/checkpoints"}) {
    check_refused(shell(std::string("$tapeline train $small --out run --trace ") + file), 2, {"--trace"});
    CHECK_FALSE(std::filesystem::exists(shell.folder() / "run"));
  }
}

TEST_CASE("--trace: a full disk is one clear line, and nothing half is left") {
  const test::SmallDisk disk(64);
  if (!disk.mounted()) {
    MESSAGE(disk.why());
    return;
  }
  disk.fill_up_to(4096);
  const Shell shell;
  const Ran ran =
      shell("$tapeline bench step $model --repeats 1 --quiet --trace '" + (disk / "t").string() + "'");
  CHECK(ran.code == 1);
  CHECK(ran.out.empty());
  CHECK(one_line(ran.err));
  CHECK(contains(ran.err, "No space left"));
  CHECK(names_in(disk.path()) == std::set<std::string>{"filler"});
}

}  // namespace
}  // namespace tapeline::test

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/files.h"
#include "experiments/compare/cell_record.h"
#include "tests/support/kinds.h"
#include "tests/support/surroundings.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text.h"

extern char** environ;

namespace tapeline {
namespace {

/// The program itself on a comparison small enough for a test: 2 encodings, 40 steps, lengths 8 and 16.
class SmallComparison {
 public:
  explicit SmallComparison(std::string encodings = "learned,alibi")
      : encodings_(std::move(encodings)), cache_("XDG_CACHE_HOME", (folder_.path() / "cache").string()) {
    std::string text;
    for (int i = 0; text.size() < 12000; ++i) text += i % 3 == 0 ? "let there be light, " : "and it was so. ";
    text_ = folder_.write("text.txt", text);
  }

  /// Starts it on folder `out` with more words; its messages go to messages.txt.
  pid_t start(const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {TAPELINE_PROGRAM, "compare",  "--text",  text_,
                                      "--preset",       "smoke",    "--seeds", "1",
                                      "--encodings",    encodings_, "--out",   (folder_ / out).string(),
                                      "--threads",      "1"};
    for (const char* set : {"model.layers=1", "model.width=16", "model.heads=2", "train.length=8",
                            "train.tokens_per_step=64", "train.steps=40", "train.checkpoint_every=3",
                            "evaluate.lengths=[\"1x\", \"2x\"]", "evaluate.sliding_tokens=64"}) {
      words.insert(words.end(), {"--set", set});
    }
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, 1, (folder_ / "output.txt").c_str(), flags, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, (folder_ / "messages.txt").c_str(), flags, 0600);
    pid_t child = -1;
    const int failure = posix_spawn(&child, TAPELINE_PROGRAM, &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    REQUIRE(failure == 0);
    return child;
  }

  static int wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int run(const std::string& out, const std::vector<std::string>& more = {}) const {
    return wait(start(out, more));
  }

  std::string output() const { return read_file(folder_ / "output.txt"); }
  std::string messages() const { return read_file(folder_ / "messages.txt"); }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

  /// results.csv without its last column, the speed.
  std::string results(const std::string& out) const {
    std::string kept;
    std::istringstream file(read_file(folder_ / out / "results.csv"));
    for (std::string line; std::getline(file, line);) kept += line.substr(0, line.rfind(',')) + '\n';
    return kept;
  }

 private:
  std::string encodings_;
  test::TemporaryFolder folder_;
  test::Environment cache_;
  std::string text_;
};

using test::contains;

/// Further evaluations of the models of learned and alibi.
const std::vector<std::string> evaluations = {
    "--set",
    "compare.evaluation=[{name = \"clamped\", of = \"learned\", positional.learned.beyond = \"clamp\"}, "
    "{name = \"near\", positional.keys.window = 4}]"};

void sleep_milliseconds(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

TEST_CASE("compare: kill -9 at any moment, the same command again: the same bytes") {
  const SmallComparison small;
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE_MESSAGE(small.run("whole", evaluations) == 0, small.messages());
  const auto whole =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  CHECK(contains(small.results("whole"), "learned,learned,trained,0,8,nonoverlapping,16,16,0,0,refused,"));
  CHECK(contains(small.results("whole"), "alibi,alibi,trained,0,8,nonoverlapping,16,16,"));
  CHECK(contains(small.results("whole"), "learned,learned,clamped,0,8,nonoverlapping,16,16,"));
  CHECK(contains(small.results("whole"), "learned,learned,near,0,8,nonoverlapping,16,16,0,0,refused,"));
  CHECK(contains(small.results("whole"), "alibi,alibi,near,0,8,nonoverlapping,16,16,"));
  CHECK_FALSE(contains(small.results("whole"), "alibi,alibi,clamped,"));
  CHECK(contains(small.output(), "n/a"));
  CHECK(contains(small.output(), "learned, clamped "));
  CHECK(contains(small.output(), "report: " + (small / "whole/report.html").string()));

  // Killed again and again, each time a little later than the time before.
  const int step = std::max(10, static_cast<int>(whole.count()) / 8);
  int code = -1, kills = 0;
  for (int after = step / 2; code != 0 && kills < 40; after += step) {
    const pid_t child = small.start("killed", evaluations);
    sleep_milliseconds(after);
    kill(child, SIGKILL);
    code = SmallComparison::wait(child);
    if (code == 128 + SIGKILL) ++kills;
    REQUIRE_MESSAGE((code == 0 || code == 128 + SIGKILL), small.messages());
  }
  REQUIRE(code == 0);
  CHECK(kills > 0);
  CHECK(small.results("killed") == small.results("whole"));
  CHECK(read_file(small / "killed/positions.csv") == read_file(small / "whole/positions.csv"));
}

TEST_CASE(
    "compare: a signal saves and exits 3; a finished comparison is not run again; another config is "
    "refused") {
  const SmallComparison small;
  const pid_t child = small.start("out", {"--set", "train.steps=4000"});
  for (int i = 0; i < 400 && !std::filesystem::exists(small / "out/cells/learned-seed0/checkpoints/latest");
       ++i) {
    sleep_milliseconds(20);
  }
  kill(child, SIGTERM);
  CHECK(SmallComparison::wait(child) == 3);

  CHECK(small.run("out") == 2);  // 40 steps into the folder of 4000
  CHECK(contains(small.messages(), "train.steps"));
  CHECK(contains(small.messages(), "4000"));

  REQUIRE_MESSAGE(small.run("done") == 0, small.messages());
  const std::string record = read_file(small / "done/cells/alibi-seed0/result.json");
  const std::string results = read_file(small / "done/results.csv");
  const auto checkpoint_time =
      std::filesystem::last_write_time(small / "done/cells/alibi-seed0/checkpoints/latest");
  CHECK(small.run("done") == 0);
  CHECK(read_file(small / "done/cells/alibi-seed0/result.json") == record);
  CHECK(read_file(small / "done/results.csv") == results);  // speeds too: they were kept, not measured again
  CHECK(std::filesystem::last_write_time(small / "done/cells/alibi-seed0/checkpoints/latest") ==
        checkpoint_time);
}

TEST_CASE("compare: interrupted between any two evaluations: the finished ones stay, the others come") {
  const SmallComparison small("alibi");
  const std::vector<std::string> more = {"--set",
                                         "compare.evaluation=[{name = \"near\", positional.keys.window = 4}, "
                                         "{name = \"logn\", positional.score.scale = \"logn\"}]"};
  REQUIRE_MESSAGE(small.run("out", more) == 0, small.messages());
  const std::string results = small.results("out"), positions = read_file(small / "out/positions.csv");
  const std::filesystem::path cell = small / "out/cells/alibi-seed0";
  const CellRecord whole = read_record(cell);
  REQUIRE(whole.results.size() % 3 == 0);
  std::set<std::string> values;  // no evaluation gives what another one does
  for (const RecordedResult& recorded : whole.results) {
    if (recorded.result.cell.length == 16 && !recorded.result.cell.subset)
      values.insert(std::to_string(recorded.result.nll));
  }
  CHECK(values.size() == 3);
  for (std::size_t kept = 0; kept < whole.results.size(); kept += 2) {
    CAPTURE(kept);
    CellRecord part = whole;
    part.complete = false;
    part.results.resize(kept);
    for (RecordedResult& recorded : part.results) recorded.result.tokens_per_second = 77;  // to be known by
    write_record(cell, part);
    std::filesystem::remove(small / "out/results.csv");
    REQUIRE_MESSAGE(small.run("out", more) == 0, small.messages());
    CHECK(small.results("out") == results);
    CHECK(read_file(small / "out/positions.csv") == positions);
    const CellRecord after = read_record(cell);
    REQUIRE(after.results.size() == whole.results.size());
    for (std::size_t i = 0; i < after.results.size(); ++i)
      CHECK((after.results[i].result.tokens_per_second == 77) == (i < kept));
  }
}

TEST_CASE("compare: a factor of auto is that of each length" * test::needs({"rope"})) {
  const SmallComparison small("rope");
  REQUIRE_MESSAGE(
      small.run("out", {"--set",
                        "compare.evaluation=[{name = \"auto\", positional.rope.scaling = \"ntk\"}, "
                        "{name = \"twice\", positional.rope = {scaling = \"ntk\", factor = \"2\"}}]"}) == 0,
      small.messages());
  const CellRecord record = read_record(small / "out/cells/rope-seed0");
  const auto nll = [&](const char* evaluation, Index length) {
    const EvaluationResult* result =
        record.find(evaluation, {Protocol::nonoverlapping, length, length, false});
    REQUIRE(result != nullptr);
    return result->nll;
  };
  CHECK(nll("auto", 8) == nll("trained", 8));
  CHECK(nll("auto", 16) == nll("twice", 16));
  CHECK(nll("twice", 8) != nll("trained", 8));
  CHECK(nll("twice", 16) != nll("trained", 16));
}

TEST_CASE("compare: --dry-run tells the evaluations, and a wrong one is refused there and leaves nothing") {
  const SmallComparison small;
  std::vector<std::string> words = evaluations;
  words.push_back("--dry-run");
  REQUIRE_MESSAGE(small.run("out", words) == 0, small.messages());
  CHECK(contains(small.output(), "each model as trained; also learned, clamped; learned, near; alibi, near"));
  CHECK(contains(small.output(), "[[compare.evaluation]]\nname = \"clamped\"\nof = \"learned\"\n"));
  for (const char* dry : {"--dry-run", "--quiet"}) {
    CHECK(small.run("out", {dry, "--set",
                            "compare.evaluation=[{name = \"e\", of = \"learned\", "
                            "positional.learned.rows = 20}]"}) == 2);
    CHECK(contains(small.messages(), "evaluation \"e\" (--set) sets positional.learned.rows to 20"));
  }
  CHECK_FALSE(std::filesystem::exists(small / "out"));
}

TEST_CASE("compare: a model that diverges is counted, and the others go on") {
  const SmallComparison small;
  REQUIRE_MESSAGE(
      small.run("out", {"--set", "optimizer.lr=1e30", "--set", "optimizer.clip=0", "--json"}) == 0,
      small.messages());
  CHECK(contains(small.results("out"), ",diverged,"));
  CHECK(contains(small.output(), "\"status\": \"diverged\""));
}

}  // namespace
}  // namespace tapeline

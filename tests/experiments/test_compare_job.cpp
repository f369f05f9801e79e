#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/files.h"
#include "tests/support/surroundings.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text.h"

extern char** environ;

namespace tapeline {
namespace {

/// The program itself on a comparison small enough for a test: 2 encodings, 40 steps, lengths 8 and 16.
class SmallComparison {
 public:
  SmallComparison() : cache_("XDG_CACHE_HOME", (folder_.path() / "cache").string()) {
    std::string text;
    for (int i = 0; text.size() < 12000; ++i) text += i % 3 == 0 ? "let there be light, " : "and it was so. ";
    text_ = folder_.write("text.txt", text);
  }

  /// Starts it on folder `out` with more words; its messages go to messages.txt.
  pid_t start(const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {
        TAPELINE_PROGRAM, "compare", "--text",      text_,           "--preset", "smoke",
        "--seeds",        "1",       "--encodings", "learned,alibi", "--out",    (folder_ / out).string(),
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
  test::TemporaryFolder folder_;
  test::Environment cache_;
  std::string text_;
};

using test::contains;

void sleep_milliseconds(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

TEST_CASE("compare: kill -9 at any moment, the same command again: the same bytes") {
  const SmallComparison small;
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE_MESSAGE(small.run("whole") == 0, small.messages());
  const auto whole =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  CHECK(contains(small.results("whole"), "learned,learned,trained,0,8,nonoverlapping,16,16,0,0,refused,"));
  CHECK(contains(small.results("whole"), "alibi,alibi,trained,0,8,nonoverlapping,16,16,"));
  CHECK(contains(small.output(), "n/a"));
  CHECK(contains(small.output(), "report: " + (small / "whole/report.html").string()));

  // Killed again and again, each time a little later than the time before.
  const int step = std::max(10, static_cast<int>(whole.count()) / 8);
  int code = -1, kills = 0;
  for (int after = step / 2; code != 0 && kills < 40; after += step) {
    const pid_t child = small.start("killed");
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

#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/files.h"
#include "tests/support/surroundings.h"
#include "tests/support/temporary_folder.h"

extern char** environ;

namespace tapeline::test {

/// The program itself on a comparison small enough for a test: 2 encodings, 40 steps, lengths 8 and 16.
class SmallComparison {
 public:
  explicit SmallComparison(std::string encodings = "learned,alibi", int seeds = 1)
      : encodings_(std::move(encodings)),
        seeds_(std::to_string(seeds)),
        cache_("XDG_CACHE_HOME", (folder_.path() / "cache").string()) {
    std::string text;
    for (int i = 0; text.size() < 12000; ++i) text += i % 3 == 0 ? "let there be light, " : "and it was so. ";
    text_ = folder_.write("text.txt", text);
  }

  /// Starts it on folder `out` with more words; its messages go to messages.txt.
  pid_t start(const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {TAPELINE_PROGRAM, "compare",  "--text",  text_,
                                      "--preset",       "smoke",    "--seeds", seeds_,
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

  /// The same again and again on `out`, killed each time a little later than the time before, until it ends;
  /// `whole`: what an undisturbed run takes. How often it was killed.
  int run_killed(const std::string& out, const std::vector<std::string>& more,
                 std::chrono::milliseconds whole) const {
    const int step = std::max(10, static_cast<int>(whole.count()) / 8);
    int code = -1, kills = 0;
    for (int after = step / 2; code != 0 && kills < 40; after += step) {
      const pid_t child = start(out, more);
      std::this_thread::sleep_for(std::chrono::milliseconds(after));
      kill(child, SIGKILL);
      code = wait(child);
      if (code == 128 + SIGKILL) ++kills;
      REQUIRE_MESSAGE((code == 0 || code == 128 + SIGKILL), messages());
    }
    REQUIRE(code == 0);
    return kills;
  }
  /// Runs it undisturbed, and tells how long that took.
  std::chrono::milliseconds run_timed(const std::string& out, const std::vector<std::string>& more) const {
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE_MESSAGE(run(out, more) == 0, messages());
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  }

  std::string output() const { return read_file(folder_ / "output.txt"); }
  std::string messages() const { return read_file(folder_ / "messages.txt"); }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

  /// results.csv without its last column, the speed.
  std::string results(const std::string& out) const {
    return without_last_column(read_file(folder_ / out / "results.csv"));
  }
  /// The same of sweep.csv.
  std::string sweep(const std::string& out) const {
    return without_last_column(read_file(folder_ / out / "sweep.csv"));
  }
  static std::string without_last_column(const std::string& csv) {
    std::string kept;
    std::istringstream lines(csv);
    for (std::string line; std::getline(lines, line);) kept += line.substr(0, line.rfind(',')) + '\n';
    return kept;
  }

 private:
  std::string encodings_, seeds_;
  TemporaryFolder folder_;
  Environment cache_;
  std::string text_;
};

}  // namespace tapeline::test

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/kinds.h"
#include "tests/support/temporary_folder.h"

namespace {

struct Ended {
  int code = -1;  ///< exit code; 128 + n for a signal
  std::string out, error;
};

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder for one test case, removed at its end, in which the program is run.
class Place {
 public:
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }

  bool holds(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  /// Runs `tapeline <words>` through a shell; `before` are settings in front, `redirect` stands last.
  Ended run(const std::string& words, const std::string& before = "",
            const std::string& redirect = "") const {
    const std::string out = (folder_ / "stdout").string(), error = (folder_ / "stderr").string();
    const std::string to = redirect.empty() ? " >'" + out + "'" : redirect;
    const std::string line = "cd '" + folder_.path().string() + "' && " + before +
                             " '" TAPELINE_PROGRAM "' " + words + " 2>'" + error + "' </dev/null" + to;
    const int status = std::system(line.c_str());
    Ended ended;
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ended.out = contents(out);
    ended.error = contents(error);
    return ended;
  }

 private:
  tapeline::test::TemporaryFolder folder_;
};

/// Exit code 2 and exactly one line on standard error, which begins with the program's name and holds `part`.
void check_refused(const Ended& ended, const std::string& part, int code = 2) {
  CAPTURE(ended.error);
  CAPTURE(part);
  CHECK(ended.code == code);
  CHECK(ended.out.empty());
  CHECK(ended.error.starts_with("tapeline: "));
  CHECK(ended.error.find('\n') == ended.error.size() - 1);
  CHECK(ended.error.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("every wrong command line is one line and exit code 2") {
  const Place place;
  check_refused(place.run(""), "no command is given");
  check_refused(place.run("trian"), "there is no command \"trian\"; did you mean \"train\"?");
  check_refused(place.run("encodigns"), "did you mean \"encodings\"?");
  check_refused(place.run("xyzzy"), "there is no command \"xyzzy\"; there are ");
  check_refused(place.run("--verison"),
                "there is no flag \"--verison\" of tapeline; did you mean \"--version\"?");
  check_refused(place.run("encodings --jsn"),
                "there is no flag \"--jsn\" of tapeline encodings; did you mean \"--json\"?");
  check_refused(place.run("encodings -z"),
                "there is no flag \"-z\" of tapeline encodings; see tapeline encodings --help");
  check_refused(place.run("encodings --json=maybe"), "json was given");
  check_refused(place.run("encodings rope alibi"), "\"alibi\" is one word too many");
  check_refused(place.run("encodings --quiet --verbose"), "see tapeline encodings --help");
  check_refused(place.run("encodings ropes"), "ropes");
  check_refused(place.run("train --preset"), "--preset");
  check_refused(place.run("train --presett=toy"),
                "there is no flag \"--presett\" of tapeline train; did you mean \"--preset\"?");
  check_refused(place.run("train --preset toyy"), "did you mean \"toy\"?");
}

TEST_CASE("every wrong config is one line and exit code 2, with key and place") {
  const Place place;
  place.write("my.toml", "[model]\nwidth = 64\nlayer = 2\n");
  place.write("type.toml", "[model]\n\nwidth = \"wide\"\n");
  place.write("broken.toml", "[model]\nwidth 64\n");
  check_refused(place.run("train my.toml --dry-run"),
                "unknown key \"model.layer\" (my.toml:3); did you mean \"model.layers\"?");
  check_refused(place.run("train type.toml --dry-run"),
                "model.width (type.toml:3) is \"wide\"; it must be a whole number");
  check_refused(place.run("train broken.toml --dry-run"), "broken.toml:2:");
  check_refused(place.run("train . --dry-run"), "config \".\" must be a regular file; it is a folder");
  check_refused(place.run("train missing.toml --dry-run"), "config \"missing.toml\": there is no such file");
  check_refused(place.run("train --set model.widht=64 --dry-run"),
                "unknown key \"model.widht\" (--set); did you mean \"model.width\"?");
  check_refused(place.run("train --set model.width --dry-run"), "expected KEY=VALUE");
  check_refused(place.run("train --set model.tied=maybe --dry-run"),
                "model.tied (--set) is \"maybe\"; it must be true or false");
  check_refused(place.run("train --threads many --dry-run"), "train.threads (--threads) is \"many\"");
  check_refused(place.run("train --set train.tokens_per_step=100 --dry-run"), "does not fit train.length 64");
  check_refused(place.run("train --dry-run", "TAPELINE_MODEL__WIDHT=3"),
                "(environment TAPELINE_MODEL__WIDHT); did you mean \"TAPELINE_MODEL__WIDTH\"?");
  check_refused(place.run("train --dry-run", "TAPELINE_MODEL__TIED=maybe"), "it must be true or false");
}

TEST_CASE("--set stands before and after the config file and may be repeated") {
  const Place place;
  place.write("my.toml", "[model]\nwidth = 64\n");
  const Ended ended = place.run(
      "train --preset smoke --set model.layers=1 my.toml --set optimizer.lr=0.5 --set model.tied=0 --dry-run",
      "LC_ALL=de_DE.UTF-8 TAPELINE_TRAIN__KEEP=5");
  CAPTURE(ended.error);
  CHECK(ended.code == 0);
  for (const char* line : {"layers = 1 ", "width = 64 ", "lr = 0.5 ", "tied = false ", "keep = 5 "}) {
    CAPTURE(line);
    CHECK(ended.out.find(std::string("\n").append(line)) != std::string::npos);
  }
  CHECK(ended.out.find("my.toml:2") != std::string::npos);
  CHECK(ended.out.find("environment TAPELINE_TRAIN__KEEP") != std::string::npos);
  CHECK(ended.out.find("preset smoke") != std::string::npos);
  CHECK(ended.out.find("parameters") != std::string::npos);
  CHECK_FALSE(place.holds("runs"));
}

TEST_CASE("help and version go to standard output and end well") {
  const Place place;
  const Ended version = place.run("--version");
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("tapeline "));
  CHECK(version.out.find(tapeline::test::any_kind()) != std::string::npos);
  const Ended help = place.run("--help");
  CHECK(help.code == 0);
  for (const char* command : {"train", "evaluate", "generate", "encodings"}) {
    CAPTURE(command);
    CHECK(help.out.find(std::string("\n  ").append(command)) != std::string::npos);
    const Ended own = place.run(std::string(command) + " --help");
    CHECK(own.code == 0);
    CHECK(own.out.find(std::string("Example:\n  tapeline ").append(command)) != std::string::npos);
    CHECK(own.error.empty());
  }
}

TEST_CASE("the encodings are listed, told in full and printed as JSON") {
  const Place place;
  const Ended list = place.run("encodings");
  CHECK(list.code == 0);
  for (const std::string_view kind : tapeline::built_kinds()) {
    CHECK(list.out.find(std::string("\n").append(kind).append(" ")) != std::string::npos);
  }
  const auto all = nlohmann::json::parse(place.run("encodings --json").out);
  CHECK(all.size() == tapeline::built_kinds().size());
  for (const auto& kind : all) {
    for (const char* field : {"name", "title", "formula", "acts_on", "parameters", "beyond", "paper"}) {
      CAPTURE(field);
      CHECK_FALSE(kind.at(field).get<std::string>().empty());
    }
  }
}

TEST_CASE("an encoding told in full, with its options" * tapeline::test::needs({"rope"})) {
  const Place place;
  const Ended rope = place.run("encodings rope");
  CHECK(rope.code == 0);
  CHECK(rope.out.find("positional.rope.base") != std::string::npos);
  CHECK(rope.out.find("10000.0") != std::string::npos);
  const auto one = nlohmann::json::parse(place.run("encodings rope --json").out);
  CHECK(one.at("options").at(0).at("default") == 10000.0);
}

TEST_CASE("a reader who leaves is no failure, a full disk is") {
  const Place place;
  CHECK(place.run("encodings", "", " | true").error.empty());
  const Ended full = place.run("encodings", "", " >/dev/full");
  CHECK(full.code == 1);
  CHECK(full.error == "tapeline: standard output: cannot be written: No space left on device\n");
}

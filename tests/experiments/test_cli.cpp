#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/encodings/scalings.h"
#include "layers/positional/wrappers.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

namespace {

using namespace tapeline::test;

/// A wrong command line, or configuration.
void check_usage(const Ran& ran, const std::string& part) { check_refused(ran, 2, {part}); }

}  // namespace

TEST_CASE("every wrong command line is one line and exit code 2") {
  const Shell shell;
  check_usage(shell("$tapeline "), "no command is given");
  check_usage(shell("$tapeline trian"), "there is no command \"trian\"; did you mean \"train\"?");
  check_usage(shell("$tapeline encodigns"), "did you mean \"encodings\"?");
  check_usage(shell("$tapeline xyzzy"), "there is no command \"xyzzy\"; there are ");
  check_usage(shell("$tapeline --verison"),
              "there is no flag \"--verison\" of tapeline; did you mean \"--version\"?");
  check_usage(shell("$tapeline encodings --jsn"),
              "there is no flag \"--jsn\" of tapeline encodings; did you mean \"--json\"?");
  check_usage(shell("$tapeline encodings -z"),
              "there is no flag \"-z\" of tapeline encodings; see tapeline encodings --help");
  check_usage(shell("$tapeline encodings --json=maybe"), "--json is a flag and takes no value");
  check_usage(shell("$tapeline encodings rope my.toml alibi"), "\"alibi\" is one word too many");
  check_usage(shell("$tapeline encodings --quiet --verbose"), "see tapeline encodings --help");
  check_usage(shell("$tapeline encodings ropes"), "ropes");
  check_usage(shell("$tapeline train --preset"), "the value is missing: --preset NAME");
  check_usage(shell("$tapeline train --preset toy --preset=toy"), "--preset is given 2 times");
  check_usage(shell("$tapeline bench step --trace --json"),
              "--trace: the value is missing: --json is a flag");
  check_refused(shell("$tapeline generate nothing --prompt=--seed"), 1, {"nothing"});
  check_usage(shell("$tapeline bench gemm --text text.txt"), "there is no flag \"--text\" of tapeline bench");
  check_usage(shell("$tapeline train --presett=toy"),
              "there is no flag \"--presett\" of tapeline train; did you mean \"--preset\"?");
  check_usage(shell("$tapeline train --preset toyy"), "did you mean \"toy\"?");
}

TEST_CASE("every wrong config is one line and exit code 2, with key and place") {
  const Shell shell;
  shell.write("my.toml", "[model]\nwidth = 64\nlayer = 2\n");
  shell.write("type.toml", "[model]\n\nwidth = \"wide\"\n");
  shell.write("broken.toml", "[model]\nwidth 64\n");
  check_usage(shell("$tapeline train my.toml --dry-run"),
              "unknown key \"model.layer\" (my.toml:3); did you mean \"model.layers\"?");
  check_usage(shell("$tapeline train type.toml --dry-run"),
              "model.width (type.toml:3) is \"wide\"; it must be a whole number");
  check_usage(shell("$tapeline train broken.toml --dry-run"), "broken.toml:2:");
  check_usage(shell("$tapeline train . --dry-run"), "config \".\" must be a regular file; it is a folder");
  check_usage(shell("$tapeline train missing.toml --dry-run"),
              "config \"missing.toml\": there is no such file");
  check_usage(shell("$tapeline train --set model.widht=64 --dry-run"),
              "unknown key \"model.widht\" (--set); did you mean \"model.width\"?");
  check_usage(shell("$tapeline train --set model.width --dry-run"), "expected KEY=VALUE");
  check_usage(shell("$tapeline train my.toml model.width=64 --dry-run"),
              "\"model.width=64\" is one word too many; a value of a key is given by --set model.width=64");
  check_usage(shell("$tapeline train model.width=64 --dry-run"),
              "there is no such file; the value of a key is given by --set KEY=VALUE");
  check_usage(shell("$tapeline train --set model.layers=1 model.widht=64 --dry-run"),
              "unknown key \"model.widht\" (--set)");
  check_usage(shell("$tapeline train --set model.tied=maybe --dry-run"),
              "model.tied (--set) is \"maybe\"; it must be true or false");
  check_usage(shell("$tapeline train --threads many --dry-run"), "train.threads (--threads) is \"many\"");
  check_usage(shell("$tapeline train --set train.tokens_per_step=100 --dry-run"),
              "does not fit train.length 64");
  check_usage(shell("TAPELINE_MODEL__WIDHT=3 $tapeline train --dry-run"),
              "(environment TAPELINE_MODEL__WIDHT); did you mean \"TAPELINE_MODEL__WIDTH\"?");
  check_usage(shell("TAPELINE_MODEL__TIED=maybe $tapeline train --dry-run"), "it must be true or false");
}

TEST_CASE("--set stands before and after the config file and may be repeated") {
  const Shell shell;
  shell.write("my.toml", "[model]\nwidth = 64\n");
  const Ran ended = shell(
      "LC_ALL=de_DE.UTF-8 TAPELINE_TRAIN__KEEP=5 $tapeline train --preset smoke --set model.layers=1 my.toml "
      "--set optimizer.lr=0.5 --set model.tied=0 --dry-run");
  CAPTURE(ended.err);
  CHECK(ended.code == 0);
  for (const char* line : {"layers = 1 ", "width = 64 ", "lr = 0.5 ", "tied = false ", "keep = 5 "}) {
    CAPTURE(line);
    CHECK(ended.out.find(std::string("\n").append(line)) != std::string::npos);
  }
  CHECK(ended.out.find("my.toml:2") != std::string::npos);
  CHECK(ended.out.find("environment TAPELINE_TRAIN__KEEP") != std::string::npos);
  CHECK(ended.out.find("preset smoke") != std::string::npos);
  CHECK(ended.out.find("parameters") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "runs"));
}

TEST_CASE("help and version go to standard output and end well") {
  const Shell shell;
  const Ran version = shell("$tapeline --version");
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("tapeline "));
  CHECK(version.out.find(tapeline::test::any_kind()) != std::string::npos);
  const Ran help = shell("$tapeline --help");
  CHECK(help.code == 0);
  for (const char* command : {"train", "evaluate", "generate", "encodings"}) {
    CAPTURE(command);
    CHECK(help.out.find(std::string("\n  ").append(command)) != std::string::npos);
    const Ran own = shell("$tapeline " + std::string(command) + " --help");
    CHECK(own.code == 0);
    const std::string example = std::string(":\n  tapeline ").append(command);
    CHECK((contains(own.out, "Example" + example) || contains(own.out, "Examples" + example)));
    CHECK(own.err.empty());
  }
}

TEST_CASE("the encodings are listed, told in full and printed as JSON") {
  const Shell shell;
  const Ran list = shell("$tapeline encodings");
  CHECK(list.code == 0);
  for (const std::string_view kind : tapeline::built_kinds()) {
    CHECK(list.out.find(std::string("\n").append(kind).append(" ")) != std::string::npos);
  }
  const auto all = nlohmann::json::parse(shell("$tapeline encodings --json").out);
  const std::size_t wrappers = tapeline::wrapper_kinds().size();
  CHECK(all.size() == tapeline::built_kinds().size() + tapeline::rope_scaling_rows().size() + wrappers);
  CHECK(std::ranges::count(all, "wrapper", [](const auto& one) { return one.at("role"); }) ==
        static_cast<std::ptrdiff_t>(wrappers));
  for (const auto& kind : all) {
    for (const char* field : {"name", "title", "formula", "acts_on", "parameters", "beyond", "paper"}) {
      CAPTURE(field);
      CHECK_FALSE(kind.at(field).get<std::string>().empty());
    }
    const Ran one = shell("$tapeline encodings " + kind.at("name").get<std::string>());
    CHECK(one.code == 0);
    // Every kind takes it; a wrapper has keys of its own.
    const bool encoding = kind.at("role") == "encoding";
    CHECK(one.out.find(encoding ? "positional.keys.window" : "positional.") != std::string::npos);
    CHECK_FALSE(kind.at("options").empty());
  }
}

TEST_CASE("an encoding told in full, with its options" * tapeline::test::needs({"rope"})) {
  const Shell shell;
  const Ran rope = shell("$tapeline encodings rope");
  CHECK(rope.code == 0);
  CHECK(rope.out.find("positional.rope.base") != std::string::npos);
  CHECK(rope.out.find("10000.0") != std::string::npos);
  const auto one = nlohmann::json::parse(shell("$tapeline encodings rope --json").out);
  CHECK(one.at("options").at(0).at("default") == 10000.0);
}

TEST_CASE("a reader who leaves is no failure, a full disk is") {
  const Shell shell;
  CHECK(shell("$tapeline encodings | true").err.empty());
  const Ran full = shell("$tapeline encodings >/dev/full");
  CHECK(full.code == 1);
  CHECK(full.err == "tapeline: standard output: cannot be written: No space left on device\n");
}

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <sstream>
#include <string>

#include "experiments/command_line/completion.h"
#include "experiments/commands/program.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

namespace tapeline::test {
namespace {

/// What bash would offer for the last of these words; "=" stands apart, as bash hands it over.
std::set<std::string> offered(const Shell& shell, const std::string& words) {
  const Ran ran =
      shell("cat > ask <<'END'\nsource \"$1\"\nshift\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($# - 1))\n" +
            std::string("_tapeline 2>/dev/null\nprintf '%s\\n' \"${COMPREPLY[@]}\"\nEND\n") +
            "[ -e script.bash ] || $tapeline completion bash > script.bash\nbash ask script.bash " + words);
  CHECK(ran.err.empty());
  std::set<std::string> found;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) found.insert(line);
  }
  return found;
}

using Words = std::set<std::string>;

TEST_CASE("completion: bash completes commands, options, values, lists, keys and paths" *
          needs({"rope", "alibi"})) {
  const Shell shell;
  CHECK(offered(shell, "tapeline tr") == Words{"train"});
  CHECK(offered(shell, "tapeline ''").size() == tapeline_program().commands.size() + 2);
  CHECK(offered(shell, "tapeline train --res") == Words{"--resume"});
  const Words all_presets{"smoke", "toy", "paper", "paper-grid", "scaling"};
  CHECK(offered(shell, "tapeline train --preset ''") == all_presets);
  CHECK(offered(shell, "tapeline train --preset =") == all_presets);
  CHECK(offered(shell, "tapeline train --preset = t") == Words{"toy"});
  CHECK(offered(shell, "tapeline train --seed ''").empty());
  CHECK(offered(shell, "tapeline train --set model.wid") == Words{"model.width="});
  CHECK(offered(shell, "tapeline train --set model.tie") == Words{"model.tied="});
  CHECK(offered(shell, "tapeline train --set model.tied =") == Words{"true", "false"});
  CHECK(offered(shell, "tapeline train --set = model.tied = t") == Words{"true"});
  CHECK(offered(shell, "tapeline train --set positional.kind = ali") == Words{"alibi"});
  CHECK(offered(shell, "tapeline train --set model.width =").empty());
  CHECK(offered(shell, "tapeline compare --encodings rope,ali") == Words{"rope,alibi"});
  CHECK(offered(shell, "tapeline compare --encodings rope,ro").empty());  // it stands there already
  CHECK(offered(shell, "tapeline encodings ro") == Words{"rope"});
  shell("mkdir -p 'a folder' && touch 'a file.toml' other.toml");
  CHECK(offered(shell, "tapeline train 'a f'") == Words{"a folder", "a file.toml"});
  CHECK(offered(shell, "tapeline train --out 'a f'") == Words{"a folder"});
  CHECK(offered(shell, "tapeline train --text kj") == Words{"kjv"});
  CHECK(offered(shell, "tapeline nothing --x").empty());
}

TEST_CASE("completion: every option of every command stands in all three scripts") {
  const Program program = tapeline_program();
  const std::string bash = bash_completion(program), zsh = zsh_completion(program),
                    fish = fish_completion(program);
  std::istringstream lines(fish);
  std::set<std::string> fish_lines;
  for (std::string line; std::getline(lines, line);) fish_lines.insert(line);
  for (const Command& command : program.commands) {
    CAPTURE(command.name);
    const std::size_t zsh_case = zsh.find("\n        " + command.name + ")\n");
    REQUIRE(zsh_case != std::string::npos);
    const std::string zsh_part = zsh.substr(zsh_case, zsh.find(";;", zsh_case) - zsh_case);
    for (const Option& option : command.options) {
      if (option.is_word()) continue;
      CAPTURE(option.name);
      if (!option.is_flag()) CHECK(contains(bash, "\n    " + command.name + ":" + option.long_name() + ") "));
      CHECK(contains(zsh_part, option.long_name() + (option.is_flag() ? "[" : "=[")));
      const std::string wanted = " -l " + option.long_name().substr(2) + " ";
      CHECK(std::ranges::any_of(fish_lines, [&](const std::string& line) {
        return contains(line, "from " + command.name + "'") && contains(line, wanted);
      }));
    }
  }
}

TEST_CASE("completion: the shells accept their scripts, where they are installed") {
  const Shell shell;
  CHECK(shell("$tapeline completion bash > s && bash -n s").code == 0);
  for (const char* name : {"zsh", "fish"}) {
    if (shell(fmt::format("command -v {}", name)).code != 0) {
      MESSAGE("skipped: ", name, " is not installed");
      continue;
    }
    const Ran ran = shell(fmt::format("$tapeline completion {0} > s && {0} -n s", name));
    CHECK(ran.code == 0);
    CHECK(ran.err.empty());
  }
  const Ran other = shell("$tapeline completion csh");
  CHECK(other.code == 2);
  CHECK(contains(other.err, "there is no script for \"csh\"; there are bash, zsh, fish"));
}

TEST_CASE("completion: fish offers what it should, where it is installed" * needs({"rope", "alibi"})) {
  const Shell shell;
  if (shell("command -v fish").code != 0) {
    MESSAGE("skipped: fish is not installed");
    return;
  }
  const auto offered = [&](const std::string& line) {
    return shell(
               "export HOME=$PWD; $tapeline completion fish > s.fish; fish --no-config -c \"source s.fish; "
               "complete -C '" +
               line + "'\"")
        .out;
  };
  CHECK(offered("tapeline tr").starts_with("train\t"));
  CHECK(contains(offered("tapeline train --preset "), "toy"));
  CHECK(offered("tapeline encodings ro").starts_with("rope"));
  CHECK(contains(offered("tapeline compare --encodings rope,al"), "rope,alibi"));
  CHECK(contains(offered("tapeline inspect --s"), "--sort"));
}

}  // namespace
}  // namespace tapeline::test

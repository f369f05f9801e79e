#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/command_line/help.h"
#include "experiments/command_line/parser.h"
#include "experiments/commands/program.h"
#include "experiments/table.h"
#include "tests/support/text.h"

namespace tapeline::test {
namespace {

std::string refusal(const std::vector<std::string>& words) {
  const Program program = tapeline_program();
  try {
    parse_command_line(program, words);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing was refused";
}

/// A program of one command, whose options go into these.
struct Sample {
  bool flag = false, other = false;
  std::string text;
  Index number = 0;
  std::uint64_t seed = 0;
  double real = 0;
  std::vector<std::string> many, words;
  std::string given;

  Program program() {
    Command command{
        .name = "work", .description = "does it", .examples = {"sample work x"}, .run = [] { return 0; }};
    command.options = {{.name = "WORD", .help = "words", .target = &words, .required = true},
                       {.name = "--text", .value = "TEXT", .help = "a text", .target = &text},
                       {.name = "--number", .value = "N", .help = "a number", .target = &number},
                       {.name = "--seed", .value = "N", .help = "a seed", .target = &seed},
                       {.name = "--real", .value = "X", .help = "a real number", .target = &real},
                       {.name = "--many", .value = "KEY=VALUE", .help = "many", .target = &many},
                       {.name = "--given",
                        .value = "G",
                        .help = "to a function",
                        .target = [this](const std::string& value) { given += value; }},
                       {.name = "-f,--flag", .help = "a flag", .target = &flag},
                       {.name = "-o,--other", .help = "another", .target = &other, .excludes = "--flag"}};
    return {.name = "sample",
            .version = "1",
            .description = "A sample.",
            .example = "sample work x",
            .commands = {command}};
  }
};

TEST_CASE("command line: every kind of target is filled") {
  Sample sample;
  const Program program = sample.program();
  const ParsedLine line = parse_command_line(
      program, {"work", "--many", "a=1", "one", "--text=t", "--number", "-7", "--seed",
                "18446744073709551615", "--real", "2.5e-3", "--many", "b=2", "-f", "--given", "g", "two"});
  REQUIRE(std::holds_alternative<const Command*>(line));
  CHECK(std::get<const Command*>(line) == &program.commands[0]);
  CHECK(sample.words == std::vector<std::string>{"one", "two"});
  CHECK(sample.many == std::vector<std::string>{"a=1", "b=2"});
  CHECK(sample.text == "t");
  CHECK(sample.number == -7);
  CHECK(sample.seed == 18446744073709551615u);
  CHECK(sample.real == 2.5e-3);
  CHECK(sample.given == "g");
  CHECK(sample.flag);
  CHECK_FALSE(sample.other);
}

TEST_CASE("command line: several values of keys behind one flag; no other word is taken for one") {
  const auto read = [](const std::vector<std::string>& words) {
    Sample sample;
    const Program program = sample.program();
    parse_command_line(program, words);
    return std::pair{sample.many, sample.words};
  };
  const auto check = [&](const std::vector<std::string>& words, const std::vector<std::string>& many,
                         const std::vector<std::string>& other) {
    CHECK(read(words) == std::pair{many, other});
  };
  check({"work", "--many", "a.b=1", "a.c=2", "one"}, {"a.b=1", "a.c=2"}, {"one"});
  check({"work", "--many=a.b=1", "a.c=2", "one.toml"}, {"a.b=1", "a.c=2"}, {"one.toml"});
  check({"work", "one", "--many", "a.b=1", "a.c=[1, 2]", "--many", "d.e=3"}, {"a.b=1", "a.c=[1, 2]", "d.e=3"},
        {"one"});
  check({"work", "--many", "a.b=1", "two", "a.c=2"}, {"a.b=1"}, {"two", "a.c=2"});  // no longer behind it
  check({"work", "--many", "a.b=1", "c=2"}, {"a.b=1"}, {"c=2"});                    // no key
  check({"work", "a.b=1"}, {}, {"a.b=1"});
}

TEST_CASE("command line: what is wrong is told with where to look") {
  const auto refused = [](const std::vector<std::string>& words) {
    Sample sample;
    const Program program = sample.program();
    try {
      parse_command_line(program, words);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  CHECK(contains(refused({}), "no command is given; there are work; sample --help says more"));
  CHECK(contains(refused({"wrok"}), "did you mean \"work\"?"));
  CHECK(contains(refused({"work"}), "see sample work --help"));
  CHECK(contains(refused({"work", "x", "--numbre", "1"}), "did you mean \"--number\"?"));
  CHECK(contains(refused({"work", "x", "--number", "many"}), "--number"));
  CHECK(contains(refused({"work", "x", "--number"}), "--number"));
  CHECK(contains(refused({"work", "x", "-f", "-o"}), "see sample work --help"));
  CHECK(contains(refused({"work", "x", "--flag=1"}), "flag"));
  CHECK(contains(refused({"work", "x", "--text", "a", "--text", "b"}), "--text"));
}

TEST_CASE("command line: an empty value of any option or word of any command of tapeline is refused") {
  std::size_t tried = 0;
  for (const Command& command : tapeline_program().commands) {
    for (const Option& option : command.options) {
      if (option.is_flag()) continue;
      CAPTURE(command.name);
      CAPTURE(option.name);
      const std::string text =
          option.is_word() ? refusal({command.name, ""}) : refusal({command.name, option.long_name(), ""});
      CHECK(contains(text, "the value is empty; give one"));
      if (!option.is_word()) CHECK(contains(text, option.long_name()));
      ++tried;
    }
  }
  CHECK(tried > 45);
}

TEST_CASE("command line: a word that is the name of another command is a word") {
  for (const Command& command : tapeline_program().commands) {
    const Program program = tapeline_program();
    const ParsedLine line = parse_command_line(program, {"manual", command.name});
    REQUIRE(std::holds_alternative<const Command*>(line));
    CHECK(std::get<const Command*>(line)->name == "manual");
  }
}

TEST_CASE("command line: help is asked of the program or of one command") {
  const Program program = tapeline_program();
  const ParsedLine of_program = parse_command_line(program, {"--help"});
  REQUIRE(std::holds_alternative<HelpWanted>(of_program));
  CHECK(std::get<HelpWanted>(of_program).command == nullptr);
  const ParsedLine of_command = parse_command_line(program, {"inspect", "-h"});
  REQUIRE(std::holds_alternative<HelpWanted>(of_command));
  CHECK(std::get<HelpWanted>(of_command).command->name == "inspect");
  CHECK(std::holds_alternative<VersionWanted>(parse_command_line(program, {"--version"})));
}

TEST_CASE("command line: every help fits a terminal and names every option") {
  const Program program = tapeline_program();
  constexpr std::size_t width = 80, height = 45;
  const auto check_fits = [&](const std::string& text) {
    CAPTURE(text);
    std::istringstream lines(text);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) CHECK(display_width(line) <= width);
    CHECK(count <= height);
  };
  check_fits(help_text(program, width));
  std::set<std::string> descriptions;
  for (const Command& command : program.commands) {
    const std::string text = help_text(program, command, width);
    check_fits(text);
    for (const Option& option : command.options) CHECK(contains(text, "\n  " + option_form(option) + " "));
    CHECK(contains(text, "Usage: tapeline " + command.name + " [OPTIONS]"));
    REQUIRE_FALSE(command.examples.empty());
    for (const std::string& example : command.examples) CHECK(contains(text, "\n  " + example + "\n"));
    descriptions.insert(command.description);
    CHECK(contains(help_text(program, 0), command.description));
  }
  CHECK(descriptions.size() == program.commands.size());
}

TEST_CASE("command line: the usage line shows what must be given") {
  Sample sample;
  const Program program = sample.program();
  CHECK(usage_line(program, program.commands[0]) == "sample work [OPTIONS] WORD...");
  for (const Command& command : tapeline_program().commands) {
    if (command.name == "prepare")
      CHECK(usage_line(tapeline_program(), command) == "tapeline prepare [OPTIONS] --out FILE SOURCE...");
    if (command.name == "inspect")
      CHECK(usage_line(tapeline_program(), command) == "tapeline inspect [OPTIONS] CHECKPOINT [NAME]");
  }
}

}  // namespace
}  // namespace tapeline::test

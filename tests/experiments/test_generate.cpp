#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "experiments/utf8_stream.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

/// tapeline generate as someone at a shell sees it.
namespace tapeline::test {
namespace {

/// A shell with a trained model of the first kind built, in `run`.
struct Trained : Shell {
  explicit Trained(const std::string& kind = any_kind()) {
    const Ran trained =
        (*this)("$tapeline train $small --set positional.kind=" + kind + " --quiet --out run");
    CAPTURE(trained.err);
    REQUIRE(trained.code == 0);
  }
  Ran generate(const std::string& options) const {
    return (*this)("$tapeline generate run --prompt 'let ' " + options);
  }
  nlohmann::json json(const std::string& options) const {
    const Ran ran = generate("--json --quiet " + options);
    CAPTURE(ran.err);
    REQUIRE(ran.code == 0);
    return nlohmann::json::parse(ran.out);
  }
};

/// As a shell takes it.
std::string quoted(const std::string& text) { return "'" + text + "'"; }

TEST_CASE("generate --stop: the text ends before it, and says what ended it") {
  const Trained shell;
  const std::string options = "--tokens 40 --seed 4 --top-k 8 ";  // letters only, as in the text
  const auto whole = shell.json(options);
  const std::string text = whole.at("text");
  CHECK(whole.at("stopped_by").is_null());
  // Three bytes, each a token of its own, from the middle of the text.
  std::size_t at = 10;
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '\'' && c != '-'; };
  while (at + 3 < text.size() && !(plain(text[at]) && plain(text[at + 1]) && plain(text[at + 2]))) ++at;
  REQUIRE(at + 3 < text.size());
  const std::string stop = text.substr(at, 3);
  const std::string before = text.substr(0, text.find(stop));
  const auto stopped = shell.json(options + "--stop unheard-of --stop " + quoted(stop));
  CHECK(stopped.at("text") == before);
  CHECK(stopped.at("stopped_by") == stop);
  CHECK(stopped.at("tokens").size() < whole.at("tokens").size());
  CHECK(shell.generate(options + "--quiet --stop " + quoted(stop)).out == "let " + before + "\n");
  check_refused(shell.generate("--stop ''"), 2, {"--stop"});
}

TEST_CASE("generate --samples: several texts, the first as alone, each with draws of its own") {
  const Trained shell;
  const std::string options = "--tokens 20 --seed 4 --temperature 1 ";
  const auto one = shell.json(options), three = shell.json(options + "--samples 3");
  CHECK(one.at("samples").size() == 1);
  REQUIRE(three.at("samples").size() == 3);
  CHECK(three.at("text") == one.at("text"));
  CHECK(three.at("tokens") == three.at("samples")[0].at("tokens"));
  std::set<std::string> different;
  std::string shown;
  for (std::size_t n = 0; n < 3; ++n) {
    const auto& sample = three.at("samples")[n];
    CHECK(sample.at("tokens").size() == 20);
    different.insert(sample.at("text"));
    shown += "--- sample " + std::to_string(n) + " ---\nlet " + sample.at("text").get<std::string>() + "\n";
  }
  CHECK(different.size() == 3);
  const Ran printed = shell.generate(options + "--samples 3 --quiet");
  CHECK(printed.out == shown);
  CHECK(valid_utf8(printed.out) == printed.out);
  CHECK(shell.json(options + "--samples 2").at("samples")[1] == three.at("samples")[1]);
  check_refused(shell.generate("--samples 0"), 2, {"--samples is 0", "between 1 and 1024"});
  check_refused(shell.generate("--samples 1025"), 2, {"--samples is 1025"});
}

TEST_CASE("generate --stats: speed, cache and window on standard error, the text alone on standard output") {
  const Trained shell;
  const std::string options = "--tokens 9 --quiet ";
  const Ran plain = shell.generate(options), told = shell.generate(options + "--stats");
  CHECK(told.out == plain.out);
  for (const char* part : {"4 tokens, ", "tokens/s up to the first new one", "9 tokens, ",
                           "tokens/s after the first", "KiB", "never begun anew"}) {
    CAPTURE(told.err);
    CHECK(contains(told.err, part));
  }
  const auto json = shell.json("--tokens 9");
  CHECK(json.at("prompt_tokens") == 4);
  CHECK(json.at("cache_bytes") > 0);
  CHECK(json.at("prompt_tokens_per_second") > 0);
  CHECK(json.at("generation_tokens_per_second") > 0);
  CHECK(json.at("tokens_per_second") > 0);
  CHECK(shell.generate("--tokens 1 --stats").code == 0);  // nothing comes after the first token
}

TEST_CASE("generate: past the trained length it says once what the encoding does" *
          needs({"rope", "learned"})) {
  const Trained rope("rope");
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  const Ran past = rope.generate("--tokens 30");  // 4 + 30 of 16
  CHECK(past.code == 0);
  CHECK(count(past.err, "34 tokens, trained length 16: past it rope ") == 1);
  CHECK(rope.generate("--tokens 12").err.empty());
  CHECK(rope.generate("--tokens 30 --quiet").err.empty());

  const Trained learned("learned");
  const Ran slid = learned.generate("--tokens 30 --quiet");
  CHECK(slid.code == 0);
  CHECK(count(slid.err, "learned positions end at row 16: the window was begun anew 2 times") == 1);
  CHECK_FALSE(contains(slid.err, "trained length"));
  CHECK(contains(learned.generate("--tokens 30 --stats").err, "begun anew 2 times"));
  CHECK(learned.json("--tokens 30 --samples 2").at("samples")[0].at("text") ==
        learned.json("--tokens 30").at("text"));
}

}  // namespace
}  // namespace tapeline::test

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "core/sha256.h"
#include "data/token_store.h"
#include "tests/experiments/shell.h"

/// `prepare` as someone at a shell sees it.
namespace tapeline {
namespace {

using namespace test;

TEST_CASE("prepare: files and standard input become one store, in order") {
  const Shell shell;
  shell.write("b", "two\r\n");
  shell.write("a", "one");
  const std::string text = "two\r\n\none\nthree";
  const Ran ran = shell("printf three | $tapeline prepare b a - --out o.h5 --json");
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const nlohmann::json json = nlohmann::json::parse(ran.out);
  CHECK(json["path"] == "o.h5");
  CHECK(json["tokens"] == text.size());
  CHECK(json["bytes"] == text.size());
  CHECK(json["digest"] == sha256_hex(text));
  const TokenStore store = TokenStore::open(shell.folder() / "o.h5");
  CHECK(store.digest() == sha256_hex(text));
  CHECK(store.source() == "b a -");

  const Ran plain = shell("$tapeline prepare a --out p.h5");
  CHECK(plain.code == 0);
  CHECK(plain.out == "p.h5: 3 tokens (bytes) of 3 bytes of text, SHA-256 " + sha256_hex("one") + "\n");
}

TEST_CASE("prepare: what cannot be done ends with one line and its exit code") {
  const Shell shell;
  shell.write("a", "one");
  shell.write("empty", "");
  const auto check = [&](const std::string& arguments, int code, const std::string& part) {
    CAPTURE(arguments);
    check_refused(shell("$tapeline prepare " + arguments + " < /dev/null"), code, {part});
  };
  check("a", 2, "--out");
  check("--out o.h5", 2, "SOURCE");
  check("a --out o.h5 --tokenizer words", 2, "\"words\"");
  check("nowhere --out o.h5", 1, "\"nowhere\"");
  check("empty --out o.h5", 1, "\"empty\"");
  check("- --out o.h5", 1, "standard input");
  check("a --out no/such/o.h5", 1, "no/such");
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "o.h5"));
}

TEST_CASE("prepare: writes over a token store, and over nothing else") {
  const Shell shell;
  shell.write("a", "one");
  shell.write("b", "other");
  CHECK(shell("$tapeline prepare a --out o.h5 && $tapeline prepare b --out o.h5").code == 0);
  CHECK(TokenStore::open(shell.folder() / "o.h5").digest() == sha256_hex("other"));
  for (const char* file : {"a", "b", "script"}) {
    CAPTURE(file);
    const Ran ran = shell(fmt::format("$tapeline prepare a --out {}", file));
    CHECK(ran.code == 2);
    CHECK(ran.err.find("is there already and is no token store") != std::string::npos);
  }
  CHECK(read_file((shell.folder() / "a").string()) == "one");
}

}  // namespace
}  // namespace tapeline

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "core/sha256.h"
#include "data/token_store.h"
#include "tests/experiments/shell.h"
#include "tests/support/temporary_folder.h"

/// `prepare` as someone at a shell sees it.
namespace tapeline {
namespace {

using test::Ran;

/// Runs a shell script in the folder; $tapeline is the program.
Ran run_in(const test::TemporaryFolder& folder, const std::string& script) {
  folder.write("script", "cd '" + folder.path().string() + "'\ntapeline='" TAPELINE_PROGRAM "'\n" + script);
  const std::string file = (folder / "script").string();
  const int status = std::system(("sh " + file + " > " + file + ".out 2> " + file + ".err").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(file + ".out"), read_file(file + ".err")};
}

TEST_CASE("prepare: files and standard input become one store, in order") {
  const test::TemporaryFolder folder;
  folder.write("b", "two\r\n");
  folder.write("a", "one");
  const std::string text = "two\r\n\none\nthree";
  const Ran ran = run_in(folder, "printf three | $tapeline prepare b a - --out o.h5 --json");
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const nlohmann::json json = nlohmann::json::parse(ran.out);
  CHECK(json["path"] == "o.h5");
  CHECK(json["tokens"] == text.size());
  CHECK(json["bytes"] == text.size());
  CHECK(json["digest"] == sha256_hex(text));
  const TokenStore store = TokenStore::open(folder / "o.h5");
  CHECK(store.digest() == sha256_hex(text));
  CHECK(store.source() == "b a -");

  const Ran plain = run_in(folder, "$tapeline prepare a --out p.h5");
  CHECK(plain.code == 0);
  CHECK(plain.out == "p.h5: 3 tokens (bytes) of 3 bytes of text, SHA-256 " + sha256_hex("one") + "\n");
}

TEST_CASE("prepare: what cannot be done ends with one line and its exit code") {
  const test::TemporaryFolder folder;
  folder.write("a", "one");
  folder.write("empty", "");
  const auto check = [&](const std::string& arguments, int code, const std::string& part) {
    CAPTURE(arguments);
    const Ran ran = run_in(folder, "$tapeline prepare " + arguments + " < /dev/null");
    CHECK(ran.code == code);
    CHECK(ran.out.empty());
    CHECK(ran.err.find(part) != std::string::npos);
    CHECK(ran.err.find('\n') == ran.err.size() - 1);
  };
  check("a", 2, "--out");
  check("--out o.h5", 2, "SOURCE");
  check("a --out o.h5 --tokenizer words", 2, "\"words\"");
  check("nowhere --out o.h5", 1, "\"nowhere\"");
  check("empty --out o.h5", 1, "\"empty\"");
  check("- --out o.h5", 1, "standard input");
  check("a --out no/such/o.h5", 1, "no/such");
  CHECK_FALSE(std::filesystem::exists(folder / "o.h5"));
}

TEST_CASE("prepare: writes over a token store, and over nothing else") {
  const test::TemporaryFolder folder;
  folder.write("a", "one");
  folder.write("b", "other");
  CHECK(run_in(folder, "$tapeline prepare a --out o.h5 && $tapeline prepare b --out o.h5").code == 0);
  CHECK(TokenStore::open(folder / "o.h5").digest() == sha256_hex("other"));
  for (const char* file : {"a", "b", "script"}) {
    CAPTURE(file);
    const Ran ran = run_in(folder, fmt::format("$tapeline prepare a --out {}", file));
    CHECK(ran.code == 2);
    CHECK(ran.err.find("is there already and is no token store") != std::string::npos);
  }
  CHECK(read_file((folder / "a").string()) == "one");
}

}  // namespace
}  // namespace tapeline

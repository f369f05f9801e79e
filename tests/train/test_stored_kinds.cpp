#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/seal.h"
#include "tests/support/kinds.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text.h"
#include "train/config_loader.h"
#include "train/config_table.h"
#include "train/run_folder.h"
#include "train/stored_kinds.h"

namespace tapeline {
namespace {

using test::contains;

std::string after_dropping(std::string_view text, const std::vector<std::string_view>& kinds) {
  toml::table table = toml::parse(text);
  drop_left_out(table, kinds);
  std::ostringstream out;
  out << table;
  return out.str();
}

constexpr std::string_view stored = R"(
[model]
width = 64
[positional]
kind = "alibi"
[positional.rope]
base = 500
[positional.alibi]
learned = true
[compare]
encodings = ["none", "rope", "alibi"]
[[compare.variant]]
name = "turned"
positional = {kind = "rope", rope.base = 7}
[[compare.variant]]
name = "sloped"
positional = {kind = "alibi", rope.base = 8}
[[compare.evaluation]]
name = "of turned"
of = "turned"
[[compare.evaluation]]
name = "of sloped"
of = "sloped"
[[compare.evaluation]]
name = "of rope"
of = "rope"
[[compare.evaluation]]
name = "of some"
of = ["rope", "sloped", "turned"]
[[compare.evaluation]]
name = "of two turned"
of = ["rope", "turned"]
[[compare.evaluation]]
name = "of all that turn"
positional.rope.base = 9
[[compare.evaluation]]
name = "of all"
positional.keys.window = 16
)";

TEST_CASE(
    "stored kinds: what one model does not need of kinds that are left out is dropped, all else stays") {
  const std::string text = after_dropping(stored, {"rope", "learned"});
  for (const char* part : {"64", "learned = true", "'none', 'alibi'", "'sloped'", "'of sloped'", "'of some'",
                           "of = [ 'sloped' ]", "'of all'"}) {
    CHECK_MESSAGE(contains(text, part), text);
  }
  for (const char* part : {"rope", "500", "turn", " 7", " 8", " 9"})
    CHECK_MESSAGE(!contains(text, part), text);
}

TEST_CASE("stored kinds: nothing left out, nothing changed; the model's own kind stays, to be refused") {
  std::ostringstream same;
  same << toml::parse(stored);
  CHECK(after_dropping(stored, {}) == same.str());
  CHECK(contains(after_dropping(stored, {"alibi"}), "kind = 'alibi'"));
  CHECK(after_dropping("compare = 3\npositional = 4\n", {"rope"}) == "compare = 3\npositional = 4");
}

TEST_CASE("fixed build: the defaults are its encodings, every kind left out is refused wherever it stands" *
          test::needs_fixed_build()) {
  const Config config = resolve_config({}).config;
  CHECK(test::is_built(config.positional.kind));
  CHECK(config.compare.encodings == std::vector<std::string>(built_kinds().begin(), built_kinds().end()));

  const auto error_of = [](const ConfigSources& sources) {
    try {
      resolve_config(sources);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const test::TemporaryFolder folder;
  for (const std::string_view view : left_out_kinds()) {
    const std::string kind(view);
    const std::string refused = fmt::format(" is \"{}\", {}", kind, left_out_text());
    ConfigSources set, environment, list, variant, file, option;
    set.sets = {{"positional.kind", kind, "--set"}};
    CHECK(error_of(set) == "positional.kind (--set)" + refused);
    environment.environment = {{"TAPELINE_POSITIONAL__KIND", kind}};
    CHECK(error_of(environment) == "positional.kind (environment TAPELINE_POSITIONAL__KIND)" + refused);
    list.flags = {{"compare.encodings", test::any_kind() + "," + kind, "--encodings"}};
    CHECK(error_of(list) == "compare.encodings (--encodings)" + refused);
    variant.sets = {{"compare.variant", "[{name = \"a\", positional.kind = \"" + kind + "\"}]", "--set"}};
    CHECK(error_of(variant) == "positional.kind (--set)" + refused);
    file.file = folder.write("my.toml", "[positional]\nkind = \"" + kind + "\"\n");
    CHECK(error_of(file) == "positional.kind (" + file.file.string() + ":2)" + refused);
    option.sets = {{"positional." + kind + ".base", "3", "--set"}};
    CHECK(error_of(option) ==
          fmt::format("positional.{}.base (--set) is of \"{}\", {}", kind, kind, left_out_text()));
  }
}

TEST_CASE(
    "fixed build: a run of another build goes on when its kind is there; a comparison needs all its own" *
    test::needs_fixed_build()) {
  const test::TemporaryFolder folder;
  const std::string other(left_out_kinds().front());
  const std::string text = fmt::format(
      "[positional]\nkind = \"{0}\"\n[compare]\nencodings = [\"{0}\", \"{1}\"]\n", test::any_kind(), other);
  std::filesystem::create_directories(folder / "run");
  folder.write("run/config.toml", sealed(text, stored_config_seal));
  ConfigSources sources;
  sources.file = folder / "run/config.toml";
  CHECK_THROWS_AS(resolve_config(sources), ConfigError);
  sources.file_is_stored = true;
  const ResolvedConfig resolved = resolve_config(sources);
  const RunFolder run(folder / "run");
  CHECK(parse_resolved(text, {}, "here").config.compare.encodings == std::vector{test::any_kind()});
  CHECK_THROWS_AS(run.claim(resolved, StoredFor::comparison), ConfigError);
  CHECK_THROWS_AS(parse_resolved("[positional]\nkind = \"" + other + "\"\n", {}, "here"), ConfigError);
}

}  // namespace
}  // namespace tapeline

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "layers/positional/kinds_of_build.h"
#include "layers/positional/registry.h"
#include "tests/support/kinds.h"

using namespace tapeline;

namespace {
const std::vector<std::string_view> two = {"none", "rope"}, others = {"learned", "alibi"};
}

TEST_CASE("kinds of the build: its names are those of the registry, in order, none twice") {
  std::vector<std::string_view> registered;
  for (const EncodingKind& kind : encoding_kinds()) registered.push_back(kind.name);
  CHECK(std::vector<std::string_view>(built_kinds().begin(), built_kinds().end()) == registered);
  std::set<std::string_view> all(registered.begin(), registered.end());
  for (const std::string_view kind : left_out_kinds()) {
    CHECK(all.insert(kind).second);
    CHECK(is_left_out(kind));
  }
  CHECK(all.size() == built_kinds().size() + left_out_kinds().size());
  CHECK_FALSE(is_left_out(registered.front()));
  CHECK_FALSE(is_left_out("spiral"));
  CHECK(test::is_built(default_kind()));
  CHECK(test::is_built(PositionalConfig{}.kind));
}

TEST_CASE("kinds of the build: what is said of them") {
  CHECK(built_kinds_text(two, {}) == "none, rope");
  CHECK(built_kinds_text(two, others) == "none, rope (fixed when built: TAPELINE_POSITIONAL=none;rope)");
  const std::string text = left_out_text(two);
  for (const char* part : {"TAPELINE_POSITIONAL=none;rope", "use none, rope", "-DTAPELINE_POSITIONAL=all"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  }
  CHECK(text.find('\n') == std::string::npos);
}

TEST_CASE("kinds of the build: one that is left out is refused as that" * test::needs_fixed_build()) {
  for (const std::string_view kind : left_out_kinds()) {
    CHECK_THROWS_WITH_AS(encoding_kind(kind),
                         fmt::format("positional.kind is \"{}\", {}", kind, left_out_text()).c_str(),
                         ConfigError);
  }
}

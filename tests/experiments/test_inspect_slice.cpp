#include <doctest/doctest.h>

#include "core/error.h"
#include "experiments/inspect/slice.h"
#include "experiments/inspect/stored_config.h"

namespace tapeline {
namespace {

std::string sliced(const std::string& text, const std::vector<Index>& extents) {
  try {
    const Slab slab = parse_slice(text, extents, "w");
    CHECK(slab.fits(extents));
    return slab.text();
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()).starts_with("--slice " + text + ": "));
    return "refused";
  }
}

TEST_CASE("inspect slice: as numpy reads it") {
  CHECK(sliced("0:4,10:20", {64, 64}) == "[0:4, 10:20]");
  CHECK(sliced("", {2, 3}) == "[0:2, 0:3]");
  CHECK(sliced(":", {5}) == "[0:5]");
  CHECK(sliced("3", {5, 2}) == "[3:4, 0:2]");
  CHECK(sliced("-1, -2:", {5, 7}) == "[4:5, 5:7]");
  CHECK(sliced("::2", {5}) == "[0:5:2]");
  CHECK(sliced("1::3", {8}) == "[1:8:3]");
  CHECK(sliced("2:100", {5}) == "[2:5]");
  CHECK(sliced("-100:2", {5}) == "[0:2]");
  CHECK(sliced("4:2", {5}) == "[4:4]");
  CHECK(sliced("7:9", {5}) == "[5:5]");
  CHECK(sliced(":,0", {5, 0}) == "refused");
}

TEST_CASE("inspect slice: what is none is refused in words") {
  for (const char* text : {"5", "-6", "a", "0:b", "1:2:3:4", "0,", "0,0,0", "::0", "::-1", "1.5",
                           "0:4:", "99999999999999999999"}) {
    CAPTURE(text);
    const bool fine = std::string(text) == "0:4:";  // an empty step is 1
    CHECK((sliced(text, {5, 5}) == "refused") != fine);
  }
  CHECK(sliced("0", {}) == "refused");
}

TEST_CASE("inspect config: keys of any version, in the order of the text, with origins") {
  const std::vector<StoredKey> keys = read_stored_config(
      "[model]\nwidth = 64\nbias = true\n\n[positional]\nkind = \"rope\"\n[positional.rope]\nbase = "
      "1e4\n\n[later]\n"
      "unknown = [1, 2]\n\n[[compare.variant]]\nname = \"a\"\n",
      "model.width = \"preset smoke\"\npositional.rope.base = \"default\"\n", "here");
  REQUIRE(keys.size() == 6);
  CHECK(keys[0].name == "model.width");
  CHECK(keys[0].text == "64");
  CHECK(keys[0].origin == "preset smoke");
  CHECK(keys[1].name == "model.bias");
  CHECK(keys[1].origin.empty());
  CHECK(keys[2].json == "\"rope\"");
  CHECK(keys[3].name == "positional.rope.base");
  CHECK(keys[3].text == "10000.0");
  CHECK(keys[4].text == "[1, 2]");
  CHECK(keys[5].name == "compare.variant");
  CHECK(keys[5].text == "[{name = \"a\"}]");
  CHECK(find_stored(keys, "later.unknown") == &keys[4]);
  CHECK(find_stored(keys, "later") == nullptr);
  CHECK_THROWS_AS(read_stored_config("[model\n", "", "here"), FileError);
}

}  // namespace
}  // namespace tapeline

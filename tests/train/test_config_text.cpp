#include <doctest/doctest.h>

#include <bit>
#include <clocale>
#include <locale>
#include <string>

#include "tests/support/kinds.h"
#include "train/config_derived.h"
#include "train/config_loader.h"
#include "train/nearest_name.h"

using namespace tapeline;

TEST_CASE("the resolved text gives every bit back, with the origins" * test::needs({"rope", "sinusoidal"})) {
  ConfigSources sources;
  sources.preset = "paper";
  sources.sets = {
      {"optimizer.lr", "0.1000000000000000055511151231257827", "--set"},
      {"optimizer.eps", "2.2250738585072014e-308", "--set"},
      {"optimizer.weight_decay", "1e22", "--set"},
      {"model.norm_epsilon", "3", "--set"},
      {"data.source", "a \"b\" \\ \t\xc3\xa9", "--set"},
      {"evaluate.lengths", "[64, \"1.5x\"]", "--set"},
      {"positional.rope.base", "123456.789", "--set"},
      {"positional.sinusoidal.scale", "0.25", "--set"},
      {"train.seed", "9007199254740993", "--set"},
      {"compare.variant", "[{name = \"short\", positional = {kind = \"rope\", rope.base = 500}}]", "--set"},
      {"compare.evaluation", "[{name = \"w\", of = \"short\", positional.keys.window = 64}]", "--set"}};
  const ResolvedConfig first = resolve_config(sources);
  const std::string text = resolved_text(first.config);
  const ResolvedConfig second = parse_resolved(text, origin_text(first), "stored");
  CHECK(resolved_text(second.config) == text);
  CHECK(config_difference(first.config, second.config).empty());
  CHECK(std::bit_cast<std::uint64_t>(second.config.optimizer.lr) == std::bit_cast<std::uint64_t>(0.1));
  CHECK(second.config.optimizer.eps == first.config.optimizer.eps);
  CHECK(second.config.train.seed == 9007199254740993ULL);
  CHECK(second.config.data.source == "a \"b\" \\ \t\xc3\xa9");
  CHECK(second.config.positional.options.at("rope").number("base") == 123456.789);
  CHECK(second.origins.at("optimizer.lr") == "--set");
  CHECK(second.origins.at("model.width") == "preset paper");
  CHECK(second.origins.at("model.bias") == "default");
  CHECK(second.origins.at("compare.variant") == "--set");
  CHECK(origin_text(second) == origin_text(first));
  const ResolvedConfig third = parse_resolved(annotated_text(first), {}, "config.toml");
  CHECK(config_difference(first.config, third.config).empty());
  CHECK(third.origins.at("model.layers") == "config.toml:2");
}

TEST_CASE("the difference of two configs names the keys") {
  const Config first = resolve_config({}).config;
  Config second = first;
  CHECK(config_difference(first, second).empty());
  second.model.width = 256;
  second.compare.encodings.clear();
  const auto differences = config_difference(first, second);
  REQUIRE(differences.size() == 2);
  CHECK(differences[0].key == "model.width");
  CHECK(differences[1].key == "compare.encodings");
  CHECK(describe({differences[0]}) == "model.width 128, now 256");
}

namespace {
/// Decimal commas and grouped thousands, as in German: what a locale could do to numbers.
struct German : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};
}  // namespace

TEST_CASE("numbers are read and written with a point in any locale") {
  const std::locale before = std::locale::global(std::locale(std::locale(), new German));
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // where the machine has it
  const std::string written = "[optimizer]\nlr = 0.5\n[train]\nsteps = 12345\n";
  const Config read = parse_resolved(written, {}, "my.toml").config;
  ConfigSources sources;
  sources.sets = {{"optimizer.clip", "0.25", "--set"}, {"evaluate.lengths", "1.5x", "--set"}};
  const Config config = resolve_config(sources).config;
  const std::string text = resolved_text(read);
  const std::vector<Index> lengths = evaluation_lengths(config);
  std::setlocale(LC_ALL, "C");
  std::locale::global(before);
  CHECK(read.optimizer.lr == 0.5);
  CHECK(read.train.steps == 12345);
  CHECK(config.optimizer.clip == 0.25);
  CHECK(lengths == std::vector<Index>{96});
  CHECK(text.find("\nlr = 0.5\n") != std::string::npos);
  CHECK(text.find("\nsteps = 12345\n") != std::string::npos);
}

TEST_CASE("edit distance counts letters inserted, removed, exchanged and swapped") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("width", "width") == 0);
  CHECK(edit_distance("widht", "width") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(nearest_name("trian", {"compare", "train"}) == "train");
  CHECK(nearest_name("xyz", {"compare", "train"}).empty());
}

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.h"
#include "tests/support/kinds.h"
#include "tests/support/temporary_folder.h"
#include "train/config_derived.h"
#include "train/config_loader.h"
#include "train/config_table.h"
#include "train/config_text.h"

using namespace tapeline;

namespace {

/// A config file that is removed at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) : path_(folder_.write("my.toml", text)) {}
  const std::string& path() const { return path_; }
  std::string at(int line) const { return path_ + ":" + std::to_string(line); }

 private:
  test::TemporaryFolder folder_;
  std::string path_;
};

ResolvedConfig with_file(const std::string& text) {
  const TemporaryFile file(text);
  ConfigSources sources;
  sources.file = file.path();
  return resolve_config(sources);
}

ResolvedConfig with_set(const std::string& key, const std::string& value) {
  ConfigSources sources;
  sources.sets = {{key, value, "--set"}};
  return resolve_config(sources);
}

ResolvedConfig with_environment(const std::string& name, const std::string& value) {
  ConfigSources sources;
  sources.environment = {{name, value}};
  return resolve_config(sources);
}

/// The text of the ConfigError that `call` throws.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    CHECK(text.find('\n') == std::string::npos);
    return text;
  }
  return "no error";
}

bool says(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE("\"" << text << "\" lacks \"" << part << "\"");
  return found;
}

}  // namespace

TEST_CASE("every source beats the weaker ones, and each value tells where it came from") {
  const TemporaryFile file("[model]\nwidth = 256\nlayers = 5\nheads = 8\n[train]\nsteps = 5\nkeep = 7\n");
  ConfigSources sources;
  sources.preset = "smoke";
  sources.file = file.path();
  sources.environment = {{"TAPELINE_MODEL__LAYERS", "6"}, {"TAPELINE_TRAIN__STEPS", "6"}};
  sources.sets = {{"train.steps", "7", "--set"}, {"compare.seeds", "7", "--set"}};
  sources.flags = {{"compare.seeds", "8", "--seeds"}};
  const ResolvedConfig resolved = resolve_config(sources);
  const Config& config = resolved.config;
  const auto& origins = resolved.origins;
  CHECK(config.model.bias);
  CHECK(origins.at("model.bias") == "default");
  CHECK(config.train.length == 32);
  CHECK(origins.at("train.length") == "preset smoke");
  CHECK(config.model.width == 256);
  CHECK(origins.at("model.width") == file.at(2));
  CHECK(config.train.keep == 7);
  CHECK(origins.at("train.keep") == file.at(7));
  CHECK(config.model.layers == 6);
  CHECK(origins.at("model.layers") == "environment TAPELINE_MODEL__LAYERS");
  CHECK(config.train.steps == 7);
  CHECK(origins.at("train.steps") == "--set");
  CHECK(config.compare.seeds == 8);
  CHECK(origins.at("compare.seeds") == "--seeds");
  for (const ConfigKey& key : config_keys()) CHECK(origins.contains(key.name));
}

TEST_CASE("an unknown key is refused with its place and the nearest right name") {
  // Names of other programs, spelled right or nearly so.
  for (const char* name :
       {"learning_rat", "learning_rate", "optimizer.learning_rat", "train.learning_rate"}) {
    CHECK(error_of([name] { with_set(name, "1e-3"); }) ==
          "unknown key \"" + std::string(name) + "\" (--set); did you mean \"optimizer.lr\"?");
  }
  CHECK(says(error_of([] { with_set("model.n_embd", "64"); }), "\"model.width\""));
  CHECK(says(error_of([] { with_file("batch_size = 8\n"); }), "\"train.tokens_per_step\""));
  CHECK(says(error_of([] { with_file("[data]\ntext = \"my.txt\"\n"); }), "did you mean \"data.source\"?"));
  CHECK(error_of([] { with_set("data.next", "1"); }).find("data.source") == std::string::npos);
  CHECK(error_of([] { with_set("model.widht", "256"); }) ==
        "unknown key \"model.widht\" (--set); did you mean \"model.width\"?");
  CHECK(error_of([] { with_set("width", "256"); }) ==
        "unknown key \"width\" (--set); did you mean \"model.width\"?");
  CHECK(error_of([] { with_set("train.width", "256"); }) ==
        "unknown key \"train.width\" (--set); did you mean \"model.width\"?");
  CHECK(error_of([] { with_environment("TAPELINE_MODEL__WIDHT", "256"); }) ==
        "unknown key \"model.widht\" (environment TAPELINE_MODEL__WIDHT); did you mean "
        "\"TAPELINE_MODEL__WIDTH\"?");
  CHECK(says(error_of([] { with_environment("TAPELINE_MODEL_WIDTH", "256"); }),
             "for model.width write two underscores for the dot"));
  CHECK(says(error_of([] { with_environment("TAPELINE_JOBS", "4"); }), "(environment TAPELINE_JOBS)"));

  const TemporaryFile file("[model]\nwidth = 64\n\n[train]\nstepps = 3\n");
  ConfigSources sources;
  sources.file = file.path();
  CHECK(error_of([&] { resolve_config(sources); }) ==
        "unknown key \"train.stepps\" (" + file.at(5) + "); did you mean \"train.steps\"?");
  CHECK(says(error_of([] { with_file("[modle]\nwidth = 64\n"); }), "unknown key \"modle\""));
  CHECK(error_of([] { with_set("train.blah.x", "1"); }) == "unknown key \"train.blah.x\" (--set)");
  // Keys of things to come are not swallowed.
  CHECK(says(error_of([] { with_set("positional.grid.axes", "2"); }), "unknown key"));
}

TEST_CASE("a wrong type is refused with key, place, what was found and what was expected") {
  const TemporaryFile file("[model]\nlayers = 2\nwidth = \"wide\"\n");
  ConfigSources sources;
  sources.file = file.path();
  CHECK(error_of([&] { resolve_config(sources); }) ==
        "model.width (" + file.at(3) + ") is \"wide\"; it must be a whole number");
  CHECK(says(error_of([] { with_file("[model]\nwidth = 64.0\n"); }), "is 64.0; it must be a whole number"));
  CHECK(says(error_of([] { with_file("[model]\nwidth = {a = 1}\n"); }), "is a table; it must be"));
  CHECK(says(error_of([] { with_file("model = 3\n"); }), "it is a section"));
  CHECK(says(error_of([] { with_file("[optimizer]\nlr = true\n"); }), "is true; it must be a number"));
  CHECK(says(error_of([] { with_file("[optimizer]\nlr = nan\n"); }), "it must be a number"));
  CHECK(says(error_of([] { with_file("[optimizer]\nbetas = [0.9, 1.0]\n"); }), "from 0 to below 1"));
  CHECK(says(error_of([] { with_file("[optimizer]\nbetas = 0.9\n"); }), "a list of numbers"));
  CHECK(says(error_of([] { with_file("[data]\nsource = 3\n"); }), "it must be a text"));
  CHECK(says(error_of([] { with_file("[train]\nmicro_batch = \"some\"\n"); }), "or \"auto\""));
  CHECK(says(error_of([] { with_file("[evaluate]\nlengths = [1.5]\n"); }), "a list of lengths"));
  CHECK(
      says(error_of([] { with_set("model.layers", "0"); }), "model.layers (--set) is 0; it must be from 1"));
  CHECK(says(error_of([] { with_set("model.norm", "laier"); }),
             "is \"laier\"; it must be one of layer, rms; did you mean \"layer\"?"));
  CHECK(says(error_of([] { with_file("[model\nwidth = 3\n"); }), ":1:"));  // no TOML
  // What a number is taken for where it is not ambiguous.
  CHECK(with_file("[optimizer]\nlr = 1\nbetas = [0, 0.5]\n").config.optimizer.lr == 1.0);
  CHECK(with_set("data.source", "1984").config.data.source == "1984");
  CHECK(with_file("[data]\nblock = \"auto\"\n[train]\nmicro_batch = \"auto\"\n").config.data.block == 0);
}

TEST_CASE("booleans are read strictly") {
  CHECK_FALSE(with_set("model.tied", "false").config.model.tied);
  CHECK_FALSE(with_set("model.tied", "0").config.model.tied);
  CHECK(with_set("model.tied", "1").config.model.tied);
  CHECK_FALSE(with_environment("TAPELINE_MODEL__TIED", "0").config.model.tied);
  CHECK(error_of([] { with_set("model.tied", "maybe"); }) ==
        "model.tied (--set) is \"maybe\"; it must be true or false");
  CHECK(says(error_of([] { with_set("model.tied", "2"); }), "it must be true or false"));
  CHECK(says(error_of([] { with_file("[model]\ntied = 0\n"); }), "it must be true or false"));
}

TEST_CASE("lists are read from TOML and from words between commas") {
  using Names = std::vector<std::string>;
  const std::string kind = test::any_kind();
  CHECK(with_set("compare.encodings", kind).config.compare.encodings == Names{kind});
  const Names every(built_kinds().begin(), built_kinds().end());
  CHECK(with_set("compare.encodings", "all").config.compare.encodings == every);
  CHECK(with_set("compare.encodings", "[\"all\"]").config.compare.encodings == every);
  CHECK(says(error_of([&] { with_set("compare.encodings", kind + ",all"); }), "\"all\" stands alone"));
  CHECK(says(error_of([] { with_set("positional.kind", "all"); }), "it must be one of"));
  CHECK(with_set("compare.encodings", "[\"" + kind + "\"]").config.compare.encodings == Names{kind});
  CHECK(with_set("evaluate.lengths", "64, 4x,512").config.evaluate.lengths == Names{"64", "4x", "512"});
  CHECK(with_set("optimizer.betas", "0.5,0.75").config.optimizer.betas == std::vector<double>{0.5, 0.75});
  const Config config = with_file("[evaluate]\nlengths = [64, \"1.5x\", \"2x\", 128]\n").config;
  CHECK(evaluation_lengths(config) == std::vector<Index>{64, 96, 128});
  CHECK(says(error_of([] { with_set("evaluate.lengths", "4y"); }), "\"4y\" is no length"));
  CHECK(says(error_of([] { with_set("evaluate.lengths", "0x"); }), "is no length"));
  CHECK(says(error_of([] { with_set("evaluate.lengths", "1.01x"); }), "whole number"));
}

TEST_CASE("encodings are named in lists, and the nearest is suggested" *
          test::needs({"rope", "alibi", "none"})) {
  using Names = std::vector<std::string>;
  CHECK(with_set("compare.encodings", "rope,alibi").config.compare.encodings == Names{"rope", "alibi"});
  CHECK(with_set("compare.encodings", "[\"rope\", \"none\"]").config.compare.encodings ==
        Names{"rope", "none"});
  CHECK(says(error_of([] { with_set("compare.encodings", "rope,abili"); }), "did you mean \"alibi\"?"));
  CHECK(says(error_of([] { with_set("positional.kind", "ropes"); }), "did you mean \"rope\"?"));
  CHECK(says(error_of([] { with_file("[positional.rope]\nbass = 64\n"); }), "positional.rope.base"));
  ResolvedConfig resolved = resolve_config({});
  CHECK(says(error_of([&] {
               assign(resolved, {"positional.rope.bsae", "1", "--positional"});
             }),
             "did you mean \"positional.rope.base\"?"));
}

TEST_CASE("a config must be a regular file") {
  ConfigSources sources;
  sources.file = std::filesystem::temp_directory_path();
  CHECK(says(error_of([&] { resolve_config(sources); }), "must be a regular file; it is a folder"));
  sources.file = "no/such.toml";
  CHECK(error_of([&] { resolve_config(sources); }) == "config \"no/such.toml\": there is no such file");
}

TEST_CASE(
    "a config whose name could not stand in config.toml is refused, the name of a checkpoint's origin") {
  const test::TemporaryFolder folder;
  for (const char* name : {"caf\xe9.toml", "two\nlines.toml", "bell\a.toml", "\xf0\x9f.toml"}) {
    const std::filesystem::path file = folder / name;
    std::ofstream(file) << "[model]\nwidth = 64\n";
    ConfigSources sources;
    sources.file = file;
    const std::string error = error_of([&] { resolve_config(sources); });
    CHECK(says(error, "rename the file"));
    CHECK(error.find('\n') == std::string::npos);
  }
  const std::filesystem::path good = folder / "café größer.toml";
  std::ofstream(good) << "[model]\nwidth = 64\n";
  ConfigSources sources;
  sources.file = good;
  CHECK(resolve_config(sources).config.model.width == 64);
}

TEST_CASE("settings of positions that are not the default ones are told" *
          tapeline::test::needs({"learned"})) {
  ConfigSources sources;
  sources.sets = {{"positional.kind", "learned", "--set"}};
  CHECK(positional_changes(resolve_config(sources).config).empty());
  sources.sets.push_back({"positional.learned.beyond", "clamp", "--set"});
  sources.sets.push_back({"positional.keys.window", "32", "--set"});
  CHECK(positional_changes(resolve_config(sources).config) == "keys.window = 32, beyond = \"clamp\"");
}

TEST_CASE("values that do not fit together are refused by name") {
  CHECK(error_of([] { with_set("train.tokens_per_step", "100"); }) ==
        "train.tokens_per_step 100 (--set) does not fit train.length 64 (preset toy): a step holds whole "
        "windows");
  CHECK(says(error_of([] { with_set("train.micro_batch", "5"); }), "train.micro_batch 5 (--set)"));
  CHECK(says(error_of([] { with_set("model.heads", "3"); }), "model.width 128 (preset toy)"));
  CHECK(says(error_of([] { with_set("model.key_value_heads", "3"); }), "model.heads 4"));
  CHECK(says(error_of([] { with_set("optimizer.betas", "[0.9]"); }), "two numbers"));
  CHECK(says(error_of([] { with_set("data.validation_share", "0.95"); }), "data.test_share 0.1 (default)"));
  CHECK(says(error_of([] { with_set("data.vocabulary", "300"); }), "256 bytes"));
}

TEST_CASE("a value cannot smuggle in further keys") {
  const ResolvedConfig resolved = with_set("data.source", "x\"\n[model]\nwidth = 4");
  CHECK(resolved.config.model.width == 128);
  CHECK(resolved.config.data.source == "x\"\n[model]\nwidth = 4");
  CHECK(says(error_of([] { with_set("model.width", "64\nheads = 1"); }), "it must be a whole number"));
  CHECK(says(error_of([] { with_set("data.source", "caf\xe9"); }), "no UTF-8"));
}

TEST_CASE("one more key can be assigned to a resolved config") {
  ResolvedConfig resolved = resolve_config({});
  assign(resolved, {"positional.keys.window", "32", "--positional"});
  CHECK(resolved.config.positional.keys.window == 32);
  CHECK(resolved.origins.at("positional.keys.window") == "--positional");
}

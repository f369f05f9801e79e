#include <doctest/doctest.h>

#include <set>
#include <string>

#include "core/error.h"
#include "layers/positional/registry.h"
#include "layers/positional/rope_scaling_options.h"
#include "tests/support/kinds.h"
#include "train/config_loader.h"
#include "train/config_table.h"

using namespace tapeline;

namespace {

/// Another value of the key than `value`.
OptionValue another(const ConfigKey& key, const OptionValue& value) {
  struct Other {
    const ConfigKey& key;
    OptionValue operator()(bool flag) const { return !flag; }
    OptionValue operator()(Index number) const { return number + 1; }
    OptionValue operator()(double number) const { return number + 0.25; }
    OptionValue operator()(const std::string& text) const {
      for (const std::string& choice : key.choices) {
        if (choice != text) return choice;
      }
      return std::string("0.5");
    }
    OptionValue operator()(std::vector<std::string>) const { return std::vector<std::string>{"other"}; }
    OptionValue operator()(std::vector<double>) const { return std::vector<double>{0.25, 0.5}; }
  };
  return std::visit(Other{key}, value);
}

/// The error of running a model trained with `trained` under another value of the key; empty: it can be.
std::string refusal(const Config& trained, const ConfigKey& key) {
  Config changed = trained;
  key.set(changed, another(key, key.get(trained)));
  REQUIRE_FALSE(config_difference(trained, changed).empty());
  try {
    require_changeable(trained, changed, "here");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("after training: of all keys, for every kind, only those that no weight depends on can change") {
  std::set<std::string> changeable = {"keys.window",
                                      "keys.sinks",
                                      "score.scale",
                                      "score.clip",
                                      "score.base_length",
                                      "score.floor_scale",
                                      "score.attention_scale",
                                      "randomized.evaluation",
                                      "rope.base",
                                      "sinusoidal.base",
                                      "learned.beyond",
                                      "alibi.interpolate",
                                      "xpos.base",
                                      "xpos.scale_base",
                                      "xpos.center"};
  for (const OptionField& field : rope_scaling_fields()) changeable.insert("rope." + field.name);
  for (const EncodingKind& kind : encoding_kinds()) {
    Config trained = default_config();
    trained.positional.kind = kind.name;
    for (const ConfigKey& key : config_keys()) {
      const std::string prefix = "positional.";
      const std::string name = key.name.starts_with(prefix) ? key.name.substr(prefix.size()) : key.name;
      const bool of_kind = name.starts_with("keys.") || name.starts_with("score.") ||
                           name.starts_with("randomized.") || name.starts_with(std::string(kind.name) + ".");
      const bool can = changeable.contains(name) && of_kind;
      CAPTURE(kind.name);
      CAPTURE(key.name);
      const std::string error = refusal(trained, key);
      CHECK(error.empty() == can);
      if (can) continue;
      CHECK(error.starts_with("here sets " + key.name));
      const auto tells = [&error](const char* text) { return error.find(text) != std::string::npos; };
      const bool others = tells("these can: ") || tells("man tapeline-config tells what can") ||
                          tells("only positional settings can") || tells("which have no such key");
      CHECK(others);  // what can be changed instead
    }
  }
}

TEST_CASE("after training: the trained value may be given") {
  const Config trained = default_config();
  CHECK_NOTHROW(require_changeable(trained, trained, "here"));
}

TEST_CASE("after training: an evaluation of a comparison keeps to the rule" *
          test::needs({"rope", "alibi", "learned"})) {
  const auto error_of = [](const std::string& change) {
    try {
      parse_resolved("[[compare.evaluation]]\nname = \"e\"\nof = \"rope\"\npositional." + change + "\n", {},
                     "my.toml");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(error_of("rope.base = 500") == "no error");
  CHECK(error_of("keys.window = 8") == "no error");
  CHECK(error_of("rope.pairing = \"half\"") == "no error");  // as trained
  CHECK(error_of("rope.pairing = \"interleaved\"")
            .starts_with("evaluation \"e\" (my.toml:4) sets positional.rope.pairing"));
  CHECK(error_of("rope.fraction = 0.5").find("positional.rope.fraction") != std::string::npos);
  CHECK(error_of("kind = \"alibi\"").find("positional.kind") != std::string::npos);
  CHECK(error_of("learned.beyond = \"clamp\"").find("positional.learned.beyond") != std::string::npos);
}

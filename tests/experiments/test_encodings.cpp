#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "experiments/encodings/listing.h"
#include "experiments/encodings/portrait.h"
#include "experiments/encodings/scalings.h"
#include "experiments/encodings/subject.h"
#include "experiments/encodings/view.h"
#include "experiments/table.h"
#include "layers/transformer.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"
#include "tests/support/text.h"
#include "train/config_derived.h"
#include "train/config_loader.h"
#include "train/config_table.h"

using namespace tapeline;
using test::check_refused;
using test::contains;
using test::is_built;
using test::needs;
using test::Ran;
using test::Shell;

/// The numbers behind the drawings of `tapeline encodings`, and the command.
namespace {

ModelPlan plan_of(const std::string& kind, const std::map<std::string, OptionValue>& options = {}) {
  Config config = default_config();
  config.model.layers = 2, config.model.width = 64, config.model.heads = 4;
  config.train.length = 64;
  config.positional.kind = kind;
  for (const auto& [name, value] : options) {
    const ConfigKey* key = find_config_key(fmt::format("positional.{}.{}", kind, name));
    REQUIRE(key != nullptr);
    key->set(config, value);
  }
  return model_plan(config);
}

double frequency(Index pair, Index width, double base = 10000) {
  return std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(width));
}

/// The parameter of a fresh model of this plan: a drawing has the same.
double weight(Transformer& model, std::string_view name, Index at = 0) {
  const Parameter* parameter = model.parameters().find(name);
  REQUIRE(parameter != nullptr);
  return static_cast<double>(parameter->value().data[at]);
}

void check_fits(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(display_width(line) <= width);
  }
}

TEST_CASE("encodings: a scaling is drawn by the factor of its context, or the one given, and says so" *
          test::needs({"rope"})) {
  ConfigSources sources;
  std::string note;
  with_subject(resolve_config(sources).config, find_subject("yarn"), false, 256, &note);
  CHECK(note == "Drawn with positional.rope.factor = 4, in a context of 256");
  sources.sets = {{"positional.rope.factor", "8", "--set"}};
  with_subject(resolve_config(sources).config, find_subject("linear"), false, 256, &note);
  CHECK(note == "Drawn with positional.rope.factor = 8, in a context of 256");
}

}  // namespace

TEST_CASE("encodings drawn: ALiBi's lines have the slopes of the paper" * needs({"alibi"})) {
  const EncodingView view(plan_of("alibi"));
  const auto seen = view_bias(view, 1, 100);
  REQUIRE(seen.has_value());
  CHECK_FALSE(seen->by_row);
  REQUIRE(seen->bias.size() == 4);
  for (std::size_t head = 0; head < 4; ++head) {
    const double slope = std::pow(2.0, -8.0 * static_cast<double>(head + 1) / 4);
    REQUIRE(seen->bias[head][0].size() == 100);
    CHECK(seen->bias[head][0][0] == 0);
    CHECK(seen->bias[head][0][99] == doctest::Approx(-99 * slope));
  }
  CHECK_FALSE(view_rotation(view, 0, 100).has_value());
  CHECK_FALSE(view_input(view, 0, 100).has_value());
  CHECK(view_vectors(view, 0, 100).empty());
}

TEST_CASE("encodings drawn: RoPE's wavelengths are 2 pi base^(2p/r), and what is left is the mean cosine" *
          needs({"rope"})) {
  for (const double base : {10000.0, 500000.0}) {
    const EncodingView view(plan_of("rope", {{"base", base}}));
    const auto seen = view_rotation(view, 0, 256);
    REQUIRE(seen.has_value());
    CHECK(seen->width == 16);
    CHECK(seen->magnitude == doctest::Approx(1));
    REQUIRE(seen->wavelengths.size() == 8);
    for (Index pair = 0; pair < 8; ++pair) {
      CAPTURE(pair);
      CHECK(seen->wavelengths[static_cast<std::size_t>(pair)] ==
            doctest::Approx(2 * std::numbers::pi / frequency(pair, 16, base)).epsilon(1e-3));
    }
    REQUIRE(seen->decay.size() == 256);
    for (const Index distance : {0, 1, 17, 255}) {
      double mean = 0;
      for (Index pair = 0; pair < 8; ++pair) {
        mean += std::cos(static_cast<double>(distance) * frequency(pair, 16, base)) / 8;
      }
      CHECK(seen->decay[static_cast<std::size_t>(distance)] == doctest::Approx(mean).epsilon(1e-4));
    }
  }
}

TEST_CASE("encodings drawn: a scaling stretches what it says, beside plain rope" * needs({"rope"})) {
  const EncodingView plain(plan_of("rope"));
  const EncodingView linear(
      plan_of("rope", {{"scaling", std::string("linear")}, {"factor", std::string("4")}}));
  const EncodingView yarn(plan_of("rope", {{"scaling", std::string("yarn")}}));
  const auto plain_seen = view_rotation(plain, 0, 256), linear_seen = view_rotation(linear, 0, 256),
             yarn_seen = view_rotation(yarn, 0, 256);
  REQUIRE((plain_seen && linear_seen && yarn_seen));
  for (std::size_t pair = 0; pair < 8; ++pair) {
    CHECK(linear_seen->wavelengths[pair] == doctest::Approx(4 * plain_seen->wavelengths[pair]).epsilon(1e-3));
  }
  CHECK(yarn_seen->wavelengths[0] == doctest::Approx(plain_seen->wavelengths[0]).epsilon(1e-3));
  CHECK(yarn_seen->wavelengths[7] == doctest::Approx(4 * plain_seen->wavelengths[7]).epsilon(1e-3));
  CHECK(yarn_seen->magnitude == doctest::Approx(0.1 * std::log(4.0) + 1));

  const std::vector<Chart> charts =
      portrait(yarn, &plain, {.name = "yarn", .length = 256, .layer = {}, .only_kind = "rope"});
  REQUIRE(charts.size() == 2);
  CHECK(charts[0].name == "yarn_wavelengths");
  CHECK(charts[0].mark_y == 64);
  CHECK(charts[0].lines.front().name == "scaled");
  CHECK(charts[1].lines.back().name == "plain");
  // 2 pi 10000^(2p/16) is above 64 from pair 3 on.
  CHECK(contains(charts[0].notes.at(1), "plain: 5 of 8 pairs never turn whole"));
}

TEST_CASE("encodings drawn: a decay of xPos goes into what is left" * needs({"xpos"})) {
  const EncodingView view(plan_of("xpos"));
  const auto seen = view_rotation(view, 0, 256);
  REQUIRE(seen.has_value());
  CHECK(seen->decay[0] == doctest::Approx(1));
  CHECK(std::abs(seen->decay[255]) < 0.5);
  CHECK(seen->wavelengths[1] == doctest::Approx(2 * std::numbers::pi / frequency(1, 16)).epsilon(1e-3));
}

TEST_CASE("encodings drawn: sinusoids are as alike as the mean cosine of their distance" *
          needs({"sinusoidal"})) {
  const EncodingView view(plan_of("sinusoidal"));
  const auto rows = view_input(view, 0, 128);
  REQUIRE(rows.has_value());
  for (const Index distance : {1, 11, 90}) {
    double mean = 0;
    for (Index pair = 0; pair < 32; ++pair) {
      mean += std::cos(static_cast<double>(distance) * frequency(pair, 64)) / 32;
    }
    CHECK(rows->similarity(0, 5, 5 + distance) == doctest::Approx(mean).epsilon(1e-4));
  }
  CHECK_FALSE(view_bias(view, 0, 128).has_value());
}

TEST_CASE("encodings drawn: FIRE's bias by row, by its formula" * needs({"fire"})) {
  const ModelPlan plan = plan_of("fire");
  Transformer model(plan);
  const EncodingView view(plan);
  const auto seen = view_bias(view, 0, 256);
  REQUIRE(seen.has_value());
  CHECK(seen->by_row);
  CHECK(seen->rows == std::vector<Index>{7, 31, 63, 127, 255});
  const std::string prefix = "blocks/0/attention/positional/";
  const double kappa = weight(model, prefix + "kappa"), mu = weight(model, prefix + "mu");
  const Index hidden = model.parameters().find(prefix + "inner_bias")->shape()[0];
  const auto log_of = [&](double distance) { return std::log(std::abs(kappa * distance) + 1); };
  for (const std::size_t row : {0, 2, 4}) {
    const double position = static_cast<double>(seen->rows[row]);
    const double threshold = std::abs(mu * 16);  // positional.fire.length: a quarter of the trained length
    for (const Index distance : {0, 1, 6}) {
      const double x = log_of(static_cast<double>(distance)) / (log_of(std::max(position, threshold)) + 1e-6);
      double bias = weight(model, prefix + "output_bias", 2);
      for (Index unit = 0; unit < hidden; ++unit) {
        const double inner =
            weight(model, prefix + "inner_weight", unit) * x + weight(model, prefix + "inner_bias", unit);
        bias += weight(model, prefix + "output_weight", 2 * hidden + unit) * std::max(inner, 0.0);
      }
      CHECK(seen->bias[2][row][static_cast<std::size_t>(distance)] == doctest::Approx(bias).epsilon(1e-3));
    }
  }
}

TEST_CASE("encodings drawn: the weights of a trained model are those that are drawn" * needs({"t5"})) {
  const ModelPlan plan = plan_of("t5");
  Transformer model(plan);
  Parameter* table = model.parameters().find("positional/t5/table");
  REQUIRE(table != nullptr);
  table->mutable_value().data[table->shape()[1] + 3] = 7;  // head 2, distance 3
  const auto seen = view_bias(EncodingView(plan, model.parameters()), 0, 64);
  REQUIRE(seen.has_value());
  CHECK(seen->bias[1][0][3] == 7);
  CHECK(view_bias(EncodingView(plan), 0, 64)->bias[1][0][3] != 7);
}

TEST_CASE("encodings drawn: vectors of distances are those of their table" * needs({"shaw"})) {
  const ModelPlan plan = plan_of("shaw");
  Transformer model(plan);
  const std::vector<VectorTable> tables = view_vectors(EncodingView(plan), 1, 64);
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].count == 64);
  double square = 0;
  for (Index n = 0; n < 16; ++n) {
    square += std::pow(weight(model, "blocks/1/attention/positional/table", 3 * 16 + n), 2);
  }
  CHECK(tables[0].norm(0, 3) == doctest::Approx(std::sqrt(square)));
  CHECK(tables[0].norm(0, 63) == tables[0].norm(0, 40));  // clipped at 16
}

TEST_CASE("encodings: the parameters that each adds are those that a model without has not") {
  Config config = default_config();
  for (const EncodingSubject& subject : all_subjects()) {
    CAPTURE(subject.name());
    const SubjectCount count = count_subject(config, subject);
    REQUIRE(count.refusal.empty());
    if (subject.encoding == nullptr || !is_built("none")) continue;
    Config with = config, without = config;
    with.positional.kind = subject.name();
    without.positional.kind = "none";
    const Index own =
        Transformer::parameter_count(model_plan(with)) - Transformer::parameter_count(model_plan(without));
    CHECK(count.own == own);
    CHECK(count.model == Transformer::parameter_count(model_plan(with)));
  }
  const SubjectCount ssmax = count_subject(config, find_subject("ssmax"));
  CHECK(ssmax.own == config.model.layers * config.model.heads);
}

TEST_CASE("encodings: every one is drawn, in files and as numbers") {
  const Shell shell;
  std::size_t charts = 0;
  for (const EncodingSubject& subject : all_subjects()) {
    CAPTURE(subject.name());
    const std::string name(subject.name());
    const Ran ran = shell(
        fmt::format("$tapeline encodings {} $model --set model.layers=2 --plot --json --out pictures", name));
    CAPTURE(ran.err);
    REQUIRE(ran.code == 0);
    const auto json = nlohmann::json::parse(ran.out);
    CHECK(json.at("name") == name);
    REQUIRE_FALSE(json.at("charts").empty());
    for (const auto& chart : json.at("charts")) {
      ++charts;
      const std::string file = chart.at("name").get<std::string>();
      CHECK(file.starts_with(name + "_"));
      CHECK((chart.contains("values") || !chart.at("lines").empty()));
      for (const char* extension : {".svg", ".png", ".csv"}) {
        CAPTURE(extension);
        CHECK(std::filesystem::file_size(shell.folder() / "pictures" / (file + extension)) > 30);
      }
    }
    CHECK(json.at("files").size() == 3 * json.at("charts").size());
  }
  CHECK(charts >= all_subjects().size());
}

TEST_CASE("encodings: the drawing fits 80 columns of a terminal, the paths stand below") {
  const Shell shell;
  const std::string kind = test::any_kind();
  const Ran ran = shell("$tapeline encodings " + kind + " $model --plot");
  REQUIRE(ran.code == 0);
  CHECK(contains(ran.out, fmt::format("\nruns/encodings/{0}/{0}_", kind)));
  for (const EncodingSubject& subject : all_subjects()) {
    CAPTURE(subject.name());
    Config config = default_config();
    const Config with = with_subject(config, subject, true, 128);
    const std::optional<Config> plain = without_scaling(with);
    const EncodingView view(model_plan(with)), plain_view(model_plan(plain.value_or(with)));
    const Index length = std::min<Index>(128, view.positions().max_length().value_or(128));
    for (const Chart& chart :
         portrait(view, plain ? &plain_view : nullptr,
                  {.name = std::string(subject.name()), .length = length, .layer = {}, .only_kind = {}})) {
      check_fits(chart_text(chart, 80), 80);
    }
  }
}

TEST_CASE("encodings: without gnuplot the numbers are there, and one line says what is missing") {
  const Shell shell;
  const Ran ran =
      shell("PATH=/nowhere $tapeline encodings " + test::any_kind() + " $model --plot --out pictures");
  CHECK(ran.code == 1);
  CHECK(contains(ran.err, "gnuplot-nox"));
  CHECK(contains(ran.err, "the numbers are in pictures"));
  CHECK(test::one_line(ran.err));
  CHECK(contains(ran.out, ".csv\n"));
  CHECK_FALSE(contains(ran.out, ".svg"));
}

TEST_CASE("encodings: what a trained model has is drawn") {
  const Shell shell;
  const std::string kind = is_built("t5") ? "t5" : test::any_kind();
  REQUIRE(shell("$tapeline train $small --set positional.kind=" + kind + " --out run --quiet").code == 0);
  const Ran trained = shell("$tapeline encodings " + kind + " --plot --json --checkpoint run --out a");
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const auto json = nlohmann::json::parse(trained.out);
  CHECK(contains(json.at("charts").at(0).at("title").get<std::string>(), "trained, layer 1"));
  CHECK(json.at("length") == 64);
  if (kind == "t5") {
    const auto fresh =
        nlohmann::json::parse(shell("$tapeline encodings t5 $model --plot --json --out b").out);
    CHECK(fresh.at("charts").at(0).at("lines") != json.at("charts").at(0).at("lines"));
  }
  CHECK(shell("$tapeline encodings logn --plot --checkpoint run --quiet").code == 0);
  check_refused(shell("$tapeline encodings ssmax --plot --checkpoint run"), 2,
                {"encodings ssmax sets positional.score.scale"});
  check_refused(shell("$tapeline encodings " + kind + " --plot --checkpoint run --set model.width=32"), 2,
                {"model.width", "cannot change"});
  check_refused(shell("$tapeline encodings " + kind + " --plot --checkpoint run --preset toy"), 2,
                {"--preset"});
  check_refused(shell("$tapeline encodings " + kind + " --plot --checkpoint run --layer 2"), 2,
                {"--layer is 2"});
  if (is_built("alibi") && kind != "alibi") {
    check_refused(shell("$tapeline encodings alibi --plot --checkpoint run"), 2,
                  {"positions of the kind " + kind});
  }
}

TEST_CASE("encodings: refused by name") {
  const Shell shell;
  check_refused(shell("$tapeline encodings windw"), 2, {"there is no \"windw\"", "did you mean \"window\"?"});
  check_refused(shell("$tapeline encodings something"), 2, {"tapeline encodings lists"});
  check_refused(shell("$tapeline encodings --plot"), 2, {"--plot needs the NAME"});
  check_refused(shell("$tapeline encodings --out x"), 2, {"--out belongs to --plot"});
  check_refused(shell("$tapeline encodings window --length 8"), 2, {"--length belongs to --plot"});
  check_refused(shell("$tapeline encodings window --plot --length 1"), 2, {"--length is 1"});
  check_refused(shell("$tapeline encodings window --plot --length much"), 2, {"--length"});
  if (is_built("rope")) {
    check_refused(shell("$tapeline encodings yran"), 2, {"did you mean \"yarn\"?"});
  }
}

TEST_CASE("encodings: the list fits the terminal, and counts in the configured model") {
  const Shell shell;
  shell.write("small.toml", "[model]\nwidth = 32\nlayers = 2\nheads = 2\n");
  for (const std::size_t width : {80, 100, 160}) {
    const std::string text = subjects_text(default_config(), width);
    check_fits(text, width);
    for (const EncodingSubject& subject : all_subjects()) {
      CHECK(contains("\n" + text, fmt::format("\n{} ", subject.name())));
      check_fits(subject_text(default_config(), subject, width), width);
    }
  }
  CHECK(contains(shell("$tapeline encodings small.toml").out, "2 layers of width 32, 2 heads"));
  const auto ssmax = nlohmann::json::parse(shell("$tapeline encodings ssmax small.toml --json").out);
  CHECK(ssmax.at("count") == 4);
  CHECK(ssmax.at("role") == "wrapper");
  CHECK(
      contains(shell("$tapeline encodings ssmax --set model.layers=3 --set model.heads=2").out, "6 of the "));
}

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/sha256.h"
#include "data/container.h"
#include "data/hdf5_writer.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

namespace tapeline::test {
namespace {

using Json = nlohmann::json;

/// A run of a small model, trained once for all test cases.
const Shell& trained() {
  static const Shell shell;
  static const bool made = [] {
    const Ran ran =
        shell("$tapeline train $small --set train.evaluate_every=5 --set train.seed=0 --out run -q");
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    return true;
  }();
  static_cast<void>(made);
  return shell;
}

TEST_CASE("inspect: a summary and a tree, of whatever leads to the checkpoint") {
  const Shell& shell = trained();
  const Ran ran = shell("$tapeline inspect run");
  CAPTURE(ran.out);
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  for (const char* part :
       {"run/checkpoints/step-00000020.h5\n", "tapeline 1, written by version", "trained at length 16",
        "20 of 20", "seed 0", "adamw, updates 20", "m and v", "bytes, digest", "is also head", "train.steps",
        "--set", "Training loss, nats a token:", "Validation loss", "query/weight", "[16, 16]", "histogram",
        "Σ "}) {
    CAPTURE(part);
    CHECK(contains(ran.out, part));
  }
  CHECK_FALSE(contains(ran.out, "\x1b"));
  for (const char* name : {"run/checkpoints", "run/checkpoints/latest", "run/checkpoints/step-00000020.h5"})
    CHECK(contains(shell(std::string("$tapeline inspect ") + name).out, "query/weight"));
  CHECK(shell("chmod 500 run/checkpoints && chmod 400 run/checkpoints/*.h5 && $tapeline inspect run").code ==
        0);
  CHECK(contains(shell("$tapeline inspect run --all").out, "\nOptimizer\n"));
}

TEST_CASE("inspect: one tensor, its slices, its histogram; unknown names and slices are refused") {
  const Shell& shell = trained();
  const std::string weight = "blocks/0/attention/query/weight";
  const Ran ran = shell("$tapeline inspect run " + weight);
  CHECK(ran.code == 0);
  for (const char* part :
       {"/model/blocks/0/attention/query/weight\n", "[16, 16] f32", "Values [0:8, 0:8]", "Histogram"})
    CHECK(contains(ran.out, part));
  CHECK(shell("$tapeline inspect run model/" + weight).out == ran.out);
  CHECK(shell("$tapeline inspect run /model/" + weight).out == ran.out);
  CHECK(contains(shell("$tapeline inspect run optimizer/" + weight + "/m").out, "/optimizer/"));
  CHECK(contains(shell("$tapeline inspect run /config/resolved").out, "[model]\n"));
  CHECK(contains(shell("$tapeline inspect run rng/seed").out, "Values []\n  0\n"));
  CHECK(contains(shell("$tapeline inspect run blocks/0/attention").out, "query/weight"));
  CHECK(contains(shell("$tapeline inspect run schedule").out, "peak"));
  CHECK_FALSE(contains(shell("$tapeline inspect run blocks/0/attention").out, "feed_forward"));

  const Json all = Json::parse(shell("$tapeline inspect run --json --slice : " + weight).out);
  const Json part = Json::parse(shell("$tapeline inspect run --json --slice 2:9:3,-1 " + weight).out);
  REQUIRE(all["values"].size() == 256);
  REQUIRE(part["values"].size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(part["values"][i] == all["values"][(2 + 3 * i) * 16 + 15]);

  check_refused(shell("$tapeline inspect run blocks/0/attention/query/wieght"), 2,
                {"did you mean \"blocks/0/attention/query/weight\"?"});
  check_refused(shell("$tapeline inspect run zzz"), 2, {"holds nothing of the name \"zzz\""});
  check_refused(shell("$tapeline inspect run --slice 99 " + weight), 2, {"99 is outside an axis of 16"});
  check_refused(shell("$tapeline inspect run --slice 0:1"), 2, {"name the tensor"});
  check_refused(shell("$tapeline inspect run --sort nrom"), 2, {"there is no order \"nrom\""});
  check_refused(shell("$tapeline inspect run --match 'nothing*'"), 2, {"fits none"});
  check_refused(shell("$tapeline inspect nowhere"), 1, {"nowhere"});
}

TEST_CASE("inspect: --match chooses, --sort orders") {
  const Shell& shell = trained();
  const Ran ran = shell("$tapeline inspect run --match '*/weight' --sort norm --json");
  REQUIRE(ran.code == 0);
  const Json json = Json::parse(ran.out);
  REQUIRE(json["tensors"].size() > 3);
  double before = std::numeric_limits<double>::infinity();
  for (const Json& tensor : json["tensors"]) {
    CHECK(std::string(tensor["name"]).ends_with("/weight"));
    CHECK(tensor["statistics"]["norm"] <= before);
    before = tensor["statistics"]["norm"];
  }
  CHECK(json["optimizer"]["tensors"].empty());  // theirs end with /m and /v
  CHECK(Json::parse(shell("$tapeline inspect run --match 'optimizer/*' --json").out)["tensors"].empty());
}

TEST_CASE("inspect: --match is about the model, unless only the optimizer's names fit or --all is said") {
  const Shell& shell = trained();
  const auto moments = [&](const std::string& options) {
    const Ran ran = shell("$tapeline inspect run --sort norm " + options);
    REQUIRE(ran.code == 0);
    return ran.out.find("/query/weight/m ") != std::string::npos;
  };
  CHECK_FALSE(moments("--match '*attention*'"));
  CHECK(moments("--match '*attention*' --all"));
  CHECK(moments("--match '*attention*/m'"));
}

TEST_CASE("inspect: --json holds everything") {
  const Json json = Json::parse(trained()("$tapeline inspect run --json").out);
  CHECK(json["positional_kind"] == any_kind());
  CHECK(json["train_length"] == 16);
  CHECK(json["state"]["/rng/seed"] == 0);
  CHECK(json["state"]["/schedule/step"] == 20);
  CHECK(json["config"]["model.tied"]["value"] == true);
  CHECK(json["config"]["model.width"]["origin"] == "--set");
  CHECK(json["history"]["training"]["losses"].size() == 20);
  CHECK(json["history"]["validation"]["steps"].back() == 20);
  CHECK(json["tied"].size() == 1);
  Index numbers = 0;
  for (const Json& tensor : json["tensors"]) {
    Index product = 1, counted = 0;
    for (const Json& extent : tensor["shape"]) product *= extent.get<Index>();
    for (const Json& count : tensor["statistics"]["histogram"]["counts"]) counted += count.get<Index>();
    CHECK(product == counted);
    numbers += product;
  }
  CHECK(json["parameters"] == numbers);
  CHECK(json["optimizer"]["tensors"].size() == 2 * json["tensors"].size());
}

/// A checkpoint of some later version: keys, datasets and attributes that this one does not know.
void later_version(Hdf5Writer& file) {
  file.attribute("/", "format", std::string("tapeline"));
  file.attribute("/", "format_version", 1);
  file.attribute("/", "creator_version", std::string("0.9.0"));
  file.attribute("/", "mood", true);
  file.text("/config/resolved", "[model]\nwidth = 4\nshape = \"sphere\"\n[positional]\nkind = \"spiral\"\n");
  const std::vector<float> weight = {1, 2, -3, 4};
  file.numbers("/model/a/weight", std::span<const float>(weight), {2, 2});
  file.attribute("/model/a/weight", "sha256",
                 sha256_hex({reinterpret_cast<const char*>(weight.data()), sizeof(float) * weight.size()}));
  file.attribute("/model/a/weight", "colour", std::string("blue"));
  file.numbers("/model/b", std::vector<double>{0.1, 1e300, 0});
  file.numbers("/average/a/weight", std::vector<std::int8_t>{-1, 5});
  file.texts("/tokenizer/symbols", {"x", "y"});
  file.text("/note", "of a time to come");
}

TEST_CASE("inspect: what a later version wrote is listed, not hidden and not refused") {
  const Shell shell;
  Hdf5Writer writer;
  later_version(writer);
  Container::write(shell.folder() / "later.h5", "checkpoint", writer.finish());
  const Ran ran = shell("$tapeline inspect later.h5");
  CAPTURE(ran.out);
  CHECK(ran.err.empty());
  CHECK(ran.code == 0);
  for (const char* part :
       {"written by version 0.9.0", "spiral", "model.shape", "\"sphere\"", "/note = of a time to come",
        "average/a/weight", "i8", "tokenizer/symbols", "text", "weights only"}) {
    CAPTURE(part);
    CHECK(contains(ran.out, part));
  }
  CHECK(contains(shell("$tapeline inspect later.h5 a/weight").out, "colour"));
  CHECK(shell("$tapeline inspect later.h5 tokenizer/symbols").out == "x\ny\n");
  const Ran verified = shell("$tapeline inspect later.h5 --verify");
  CHECK(verified.code == 0);
  CHECK(contains(verified.out, "1 of 3 carry a SHA-256"));
}

TEST_CASE("inspect: NaN and infinities are counted, and null in JSON") {
  const Shell shell;
  Hdf5Writer writer;
  later_version(writer);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  writer.numbers("/model/ill", std::vector<float>{nan, 1, std::numeric_limits<float>::infinity(), 3});
  writer.numbers("/model/void", std::vector<float>{nan});
  writer.numbers("/model/empty", std::vector<float>{});
  Container::write(shell.folder() / "ill.h5", "checkpoint", writer.finish());
  const Ran ran = shell("$tapeline inspect ill.h5 --json");
  const Json file = Json::parse(ran.out);
  for (const Json& tensor : file["tensors"]) {
    if (tensor["name"] == "ill") {
      CHECK(tensor["statistics"]["nan"] == 1);
      CHECK(tensor["statistics"]["inf"] == 1);
      CHECK(tensor["statistics"]["mean"] == 2.0);
    }
    if (tensor["name"] == "void" || tensor["name"] == "empty") CHECK(tensor["statistics"]["mean"].is_null());
  }
  CHECK(Json::parse(shell("$tapeline inspect ill.h5 ill --slice : --json").out)["values"] ==
        Json::array({nullptr, 1.0, nullptr, 3.0}));
  CHECK(contains(shell("$tapeline inspect ill.h5").out, "NaN"));
  check_refused(shell("$tapeline inspect ill.h5 --verify"), 4,
                {"\"/model/ill\" (2 values), \"/model/void\" (1 value)"});
}

TEST_CASE("inspect --verify: says what was checked, and names what is damaged") {
  const Shell& shell = trained();
  const Ran whole = shell("$tapeline inspect run --verify");
  CHECK(whole.code == 0);
  CHECK(contains(whole.out, "whole and healthy"));
  CHECK(Json::parse(shell("$tapeline inspect run --verify --json").out)["verified"] == true);

  const std::string file = read_file(shell.folder() / "run/checkpoints/step-00000020.h5");
  const auto damage = [&](std::size_t at) {
    std::string bad = file;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    std::ofstream(shell.folder() / "bad.h5", std::ios::binary) << bad;
    return shell("$tapeline inspect bad.h5 --verify");
  };
  // The values of one tensor, found by their own bytes in the file.
  const Json values = Json::parse(
      shell("$tapeline inspect run --json --slice : blocks/0/attention/query/weight").out)["values"];
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto value = values[i].get<float>();
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  const std::size_t at = file.find(bytes);
  REQUIRE(at != std::string::npos);
  check_refused(damage(at + 5), 4, {"\"/model/blocks/0/attention/query/weight\" does not match its SHA-256"});
  check_refused(damage(100), 4, {"bad.h5"});
  for (std::size_t place = 512; place < file.size(); place += file.size() / 30)
    check_refused(damage(place), 4, {"bad.h5"});

  // Whole as a file, but not what its own digest says.
  Hdf5Writer writer;
  later_version(writer);
  writer.number("/model/c", 1.0f);
  writer.attribute("/model/c", "sha256", std::string(64, '0'));
  Container::write(shell.folder() / "own.h5", "checkpoint", writer.finish());
  check_refused(shell("$tapeline inspect own.h5 --verify"), 4, {"\"/model/c\" does not match its SHA-256"});
  CHECK(Json::parse(shell("$tapeline inspect own.h5 --verify --json").out)["verified"] == false);
  check_refused(shell("$tapeline inspect nowhere.h5 --verify"), 1, {"nowhere.h5"});
}

TEST_CASE("inspect: files that are cut short, empty or foreign are refused by name") {
  const Shell& shell = trained();
  const std::string file = read_file(shell.folder() / "run/checkpoints/step-00000020.h5");
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{96}, file.size() / 2, file.size() - 1}) {
    std::ofstream(shell.folder() / "cut.h5", std::ios::binary) << file.substr(0, size);
    check_refused(shell("$tapeline inspect cut.h5"), 1, {"cut.h5"});
    check_refused(shell("$tapeline inspect cut.h5 --verify"), 4, {"cut.h5"});
  }
  check_refused(shell("$tapeline inspect text.txt"), 1, {"text.txt"});
  Container::write(shell.folder() / "tokens.h5", "tokens", "body");
  check_refused(shell("$tapeline inspect tokens.h5"), 1, {"tokens.h5"});
  std::ofstream(shell.folder() / "foreign.h5", std::ios::binary) << file.substr(512);
  check_refused(shell("$tapeline inspect foreign.h5"), 1, {"foreign.h5"});
}

TEST_CASE("inspect: h5py sees the same names, shapes, means and attributes, where it is installed") {
  const Shell& shell = trained();
  const std::string python =
      shell("for p in python3 /usr/bin/python3; do $p -c 'import h5py, numpy' && echo $p && exit; done").out;
  if (python.empty()) {
    MESSAGE("skipped: h5py (Debian: python3-h5py) is not installed");
    return;
  }
  shell("$tapeline inspect run --json > run.json");
  std::ofstream(shell.folder() / "compare.py") << R"(
import json, h5py, numpy
said = json.load(open("run.json"))
file = h5py.File("run/checkpoints/step-00000020.h5", "r")
assert dict(file.attrs) == said["attributes"]
datasets = {}
file.visititems(lambda name, one: datasets.update({"/" + name: one}) if isinstance(one, h5py.Dataset) else None)
listed = said["tensors"] + said["optimizer"]["tensors"] + said["other"]
own = {"/config/resolved", "/config/origin", "/history/steps", "/history/losses", "/history/validation_steps",
       "/history/validation_losses"}
assert {one["path"] for one in listed} | set(said["state"]) | own == set(datasets)
for path, value in said["state"].items():
    found = datasets[path][()]
    assert (found.decode() if isinstance(found, bytes) else found) == value, path
for one in listed:
    found = datasets[one["path"]]
    assert list(found.shape) == one["shape"], one
    assert {name: value.item() if hasattr(value, "item") else value for name, value in found.attrs.items()} == one["attributes"]
    values, s = found[()].astype(numpy.float64), one["statistics"]
    assert one["type"] == "f32" and found.dtype == numpy.float32
    for name, value in (("mean", values.mean()), ("sd", values.std()), ("norm", numpy.sqrt((values ** 2).sum()))):
        assert abs(s[name] - value) <= 1e-12 * (abs(value) + values.std()), (one["path"], name, s[name], value)
    assert s["min"] == values.min() and s["max"] == values.max() and s["zeros"] == (values == 0).sum()
    edges, counts = s["histogram"]["edges"], s["histogram"]["counts"]
    if len(counts) > 1:
        assert (numpy.histogram(values, edges)[0] == counts).all(), one["path"]
assert list(file["/history/losses"]) == said["history"]["training"]["losses"]
print("agreed on", len(listed))
)";
  const Ran ran = shell("PYTHONDONTWRITEBYTECODE=1 " + python.substr(0, python.find('\n')) + " compare.py");
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "agreed on "));
}

}  // namespace
}  // namespace tapeline::test

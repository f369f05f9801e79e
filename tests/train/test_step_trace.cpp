#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/allocation_counter.h"
#include "core/files.h"
#include "data/window_sampler.h"
#include "tests/train/tiny.h"
#include "train/flops.h"
#include "train/optimizer.h"
#include "train/step_trace.h"
#include "train/train_step.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// All of a training step, as the trainer makes it.
class Steps {
 public:
  explicit Steps(const Config& config, Index micro_batch = 4, Index windows = 8)
      : config_(config),
        text_(config),
        model_(model_plan(config)),
        step_(model_, {config.train.length, windows, micro_batch}, config.model.dropout, 5),
        optimizer_(make_optimizer(config.optimizer, model_.parameters())),
        sampler_(text_.store, text_.splits.train, config.train.length, 5),
        inputs_(static_cast<std::size_t>(step_.shape().tokens())),
        targets_(inputs_.size()) {}

  void run(Watch* watch) {
    const WatchScope whole(watch, Timing::Kind::group, Phase::step, "step", ++number_);
    sampler_.next(step_.shape().windows, inputs_, targets_, watch);
    const LossSum loss = step_.run(number_, inputs_, targets_, {}, watch);
    optimizer_->update(
        {.rate = 1e-3, .divisor = static_cast<double>(loss.tokens), .clip = 1, .watch = watch});
  }
  const Transformer& model() const { return model_; }
  Index tokens() const { return step_.shape().tokens(); }

 private:
  const Config& config_;
  TinyText text_;
  Transformer model_;
  TrainStep step_;
  std::unique_ptr<Optimizer> optimizer_;
  WindowSampler sampler_;
  std::vector<Token> inputs_, targets_;
  Index number_ = 0;
};

double flops_of(const std::vector<Timing>& timings) {
  double sum = 0;
  for (const Timing& timing : timings) sum += static_cast<double>(timing.flops);
  return sum;
}

std::vector<Timing> one_step(const Config& config, Index micro_batch = 4, Index windows = 8) {
  Watch watch;
  Steps(config, micro_batch, windows).run(&watch);
  std::vector<Timing> timings = watch.timings();
  for (Timing& timing : timings) timing.parameter = {};  // its model is gone
  return timings;
}

TEST_CASE("step trace: the operations of the ops are those of the whole, every encoding and kind of model") {
  std::vector<Config> configs;
  for (const EncodingKind& kind : encoding_kinds())
    configs.push_back(tiny_config(std::string(kind.name)).config);
  Config other = configs.front();
  other.model.activation = "swiglu";
  other.model.key_value_heads = 1;
  other.model.norm = "rms";
  other.model.tied = false;
  other.model.parallel_residual = true;
  other.model.dropout = 0.1;
  configs.push_back(other);
  Config windowed = configs.front();
  windowed.positional.keys = {.causal = true, .window = 3, .sinks = 1};
  configs.push_back(windowed);
  for (const Config& config : configs) {
    CAPTURE(config.positional.kind);
    const double tokens = 8 * static_cast<double>(config.train.length);
    const double expected =
        tokens * token_flops(config.model, 256, config.train.length, config.positional.keys).training();
    // Some encodings make tables, once a micro-batch: twice as many windows in each add nothing to those.
    const double eight = flops_of(one_step(config, 4, 8)), sixteen = flops_of(one_step(config, 8, 16));
    CHECK(sixteen - eight == expected);
    CHECK(eight >= expected);
    if (config.positional.kind == "none") CHECK(eight == expected);
  }
}

TEST_CASE("step trace: every op has a name and a phase, and all of a step is there" *
          test::needs({"learned"})) {
  Config config = tiny_config("learned").config;
  config.model.dropout = 0.1;
  std::set<std::string> seen;
  for (const Timing& timing : one_step(config)) {
    CHECK_FALSE(timing.name.empty());
    CHECK(timing.end >= timing.begin);
    seen.insert(std::string(phase_name(timing.phase)) + " " + std::string(timing.name));
  }
  std::set<std::string> expected = {"step step",         "data batch sampling", "forward forward",
                                    "backward backward", "optimizer optimizer", "optimizer gradient norm",
                                    "optimizer adamw"};
  for (const char* phase : {"forward ", "backward "}) {
    for (const char* op : {"block", "embedding", "gather_rows", "add", "dropout", "layer_norm", "linear",
                           "linear_gelu", "linear_heads", "joint_attention", "cross_entropy"})
      expected.insert(std::string(phase) + op);
  }
  CHECK(seen == expected);
}

TEST_CASE("step trace: as JSON every event lies within its parent, and nothing overlaps") {
  const Config config = tiny_config().config;
  Watch watch;
  Steps steps(config);
  steps.run(&watch);
  steps.run(&watch);
  const nlohmann::json events = nlohmann::json::parse(chrome_trace(watch.timings()));
  struct Open {
    double end;
    std::string name;
  };
  std::vector<Open> open;
  std::vector<std::string> paths;
  double last = 0;
  for (const nlohmann::json& event : events) {
    if (event["ph"] == "M") continue;
    REQUIRE(event["ph"] == "X");
    CHECK(event["pid"] == 1);
    CHECK(event["tid"] == 1);
    // The numbers have three decimals: in nanoseconds they are whole.
    const double begin = std::round(1e3 * event["ts"].get<double>());
    const double end = begin + std::round(1e3 * event["dur"].get<double>());
    CHECK(begin >= last);
    last = begin;
    while (!open.empty() && open.back().end <= begin) open.pop_back();
    if (!open.empty()) CHECK(end <= open.back().end);
    std::string path;
    for (const Open& parent : open) path += parent.name + " > ";
    open.push_back({end, event["name"]});
    paths.push_back(path + open.back().name);
    if (event["name"].get<std::string>().starts_with("linear")) {
      CHECK(event["args"]["shape"].get<std::string>().starts_with("["));
      CHECK(event["args"]["flops"] > 0);
      CHECK(event["args"]["bytes"] > 0);
      CHECK(event["args"]["parameter"].get<std::string>().ends_with("/weight"));
    }
  }
  const auto times = [&](const std::string& path) { return std::ranges::count(paths, path); };
  CHECK(times("step 1") == 1);
  CHECK(times("step 2") == 1);
  CHECK(times("step 1 > batch sampling") == 1);
  CHECK(times("step 1 > forward") == 2);  // micro-batches
  CHECK(times("step 1 > forward > block 1 > joint_attention") == 2);
  CHECK(times("step 2 > backward > block 0 > linear_onto") == 2 * 2);
  CHECK(times("step 2 > backward > block 0 > linear_heads") == 2);
  CHECK(times("step 2 > backward > cross_entropy") == 2);
  CHECK(times("step 1 > optimizer > adamw") == 1);
}

TEST_CASE("step trace: watching changes no weight; a second watched step takes nothing from the heap") {
  const Config config = tiny_config().config;
  Steps plain(config), seen(config);
  Watch watch;
  for (int i = 0; i < 2; ++i) {
    watch.clear();
    plain.run(nullptr);
    seen.run(&watch);
  }
  for (std::size_t p = 0; p < plain.model().parameters().parameters().size(); ++p) {
    const Tensor a = plain.model().parameters().parameters()[p].value();
    const Tensor b = seen.model().parameters().parameters()[p].value();
    CHECK(std::equal(a.data, a.data + a.size(), b.data));
  }
  if (!AllocationCounter::available()) return;
  for (Watch* who : {static_cast<Watch*>(nullptr), &watch}) {
    watch.clear();
    const AllocationCounter counter;
    (who == nullptr ? plain : seen).run(who);
    CHECK(counter.counts().own == 0);
  }
}

TEST_CASE("step trace: names are escaped") {
  Watch watch;
  {
    const WatchScope op(&watch, Timing::Kind::op, Phase::data, "a \"b\"\\\n\x01\xff");
    op.describe({}, 0, 0, "c\"");
  }
  const nlohmann::json event = nlohmann::json::parse(chrome_trace(watch.timings())).back();
  CHECK(event["name"] == "a \"b\"\\\n\x01\xEF\xBF\xBD");
  CHECK(event["args"]["parameter"] == "c\"");
  CHECK(nlohmann::json::parse(chrome_trace({})).size() == 1);
}

TEST_CASE("step trace: written after its last step, or with fewer at the end; without a file never") {
  const TemporaryFolder folder;
  const auto step = [](StepTrace& trace) {
    { const WatchScope whole(trace.watch(), Timing::Kind::group, Phase::step, "step", 1); }
    trace.after_step();
  };
  const auto events = [&](const char* name) {
    return nlohmann::json::parse(read_file(folder / name)).size();
  };
  StepTrace two(folder / "two", 2);
  step(two);
  CHECK(two.written() == 0);
  step(two);
  CHECK(two.written() == 2);
  CHECK(events("two") == 3);
  CHECK(two.watch() == nullptr);
  step(two);
  two.finish();
  CHECK(events("two") == 3);

  StepTrace cut(folder / "cut", 5);
  step(cut);
  cut.finish();
  CHECK(cut.written() == 1);
  CHECK(events("cut") == 2);
  CHECK(cut.watch() == nullptr);

  StepTrace none(folder / "none", 5);
  none.finish();
  CHECK_FALSE(std::filesystem::exists(folder / "none"));
  StepTrace nowhere{std::filesystem::path()};
  CHECK(nowhere.watch() == nullptr);
  step(nowhere);
  CHECK(nowhere.written() == 0);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

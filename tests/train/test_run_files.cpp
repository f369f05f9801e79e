#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "tests/support/stop_signal.h"
#include "tests/train/tiny.h"
#include "train/checkpoint.h"
#include "train/log.h"
#include "train/run_folder.h"
#include "train/signals.h"

/// What a run leaves in its folder, and what it makes of what it finds there.
namespace tapeline::inline TAPELINE_PRECISION {
namespace {

TrainOptions quiet_options(const std::filesystem::path& folder) {
  spdlog::set_level(spdlog::level::off);
  TrainOptions options;
  options.folder = folder;
  options.gemm_gflops = 1;
  return options;
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::istringstream text(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Runs to the end of step `step`, then as after a signal; what kill -9 would leave is made from it.
void train_up_to(Index step, const ResolvedConfig& config, const TinyText& text, TrainOptions options) {
  options.after_step = [=](const StepDone& done) {
    if (done.step == step) test::send_stop_signal(SIGTERM);
  };
  const SignalGuard guard;
  CHECK_THROWS_AS(train_model(config, text.view(), options), Stopped);
  clear_signal();
}

TEST_CASE("run: the rate in the metrics advances once an update, however many micro-batches make one") {
  ResolvedConfig config = tiny_config();
  config.config.train.micro_batch = 2;  // of 8 windows: four make a step
  config.config.optimizer.lr = 1e-3;
  config.config.schedule.warmup = 0.25;
  const TinyText text(config.config);
  const TemporaryFolder folder;
  train_model(config, text.view(), quiet_options(folder.path()));
  std::vector<double> rates;
  for (const std::string& line : lines_of(folder / "metrics.jsonl")) {
    const auto object = nlohmann::json::parse(line);
    if (!object.contains("lr")) continue;
    rates.push_back(object.at("lr").get<double>());
    CHECK(object.at("tokens").get<Index>() == static_cast<Index>(rates.size()) * 128);
  }
  REQUIRE(rates.size() == 40);
  CHECK(rates[4] == doctest::Approx(5e-4));
  CHECK(rates[9] == doctest::Approx(1e-3));
  CHECK(rates[10] < 1e-3);
  CHECK(rates[39] == doctest::Approx(1e-3 * config.config.schedule.floor));
}

TEST_CASE("run: best is written after validation losses 2.0 and 1.5, not after NaN and 1.8") {
  ResolvedConfig config = tiny_config();
  config.config.train.steps = 4;
  config.config.train.evaluate_every = 1;
  config.config.train.keep = 1;
  const TinyText text(config.config);
  const TemporaryFolder folder;
  const RunFolder run(folder.path());
  const std::vector<double> losses{2.0, std::numeric_limits<double>::quiet_NaN(), 1.5, 1.8};
  std::vector<std::string> best_before;
  TrainOptions options = quiet_options(folder.path());
  options.validate = [&](Index step) {
    const auto best = run.best();
    best_before.push_back(best ? best->filename().string() : "none");
    EvaluationResult result;
    result.nll = losses.at(static_cast<std::size_t>(step - 1));
    return result;
  };
  const TrainOutcome outcome = train_model(config, text.view(), options);
  const std::string first = "step-00000001.h5", third = "step-00000003.h5";
  CHECK(best_before == std::vector<std::string>{"none", first, first, third});
  REQUIRE(run.best() == run.checkpoint_file(3));
  CHECK(outcome.best_validation_loss == 1.5);
  CHECK(outcome.validation_loss == 1.8);
  // Its file stays though only the last one is kept; the best one before it has gone.
  CHECK(Checkpoint(*run.best()).record().step == 3);
  CHECK_FALSE(std::filesystem::exists(run.checkpoint_file(1)));
}

TEST_CASE("run: a resume keeps every line of metrics up to its checkpoint, and drops later and half ones") {
  const ResolvedConfig config = tiny_config();
  const TinyText text(config.config);
  const TemporaryFolder folder;
  TrainOptions options = quiet_options(folder.path());
  train_up_to(33, config, text, options);
  // As kill -9 after step 33 leaves it: the last checkpoint is that of step 20.
  const RunFolder run(folder.path());
  std::filesystem::remove(run.checkpoint_file(33));
  run.set_latest(20);
  const std::vector<std::string> before = lines_of(run.metrics_file());
  REQUIRE(before.size() == 33);
  std::ofstream(run.metrics_file(), std::ios::app) << R"({"step":34,"tokens":43)";

  options.resume = true;
  options.after_step = [&, first = true](const StepDone&) mutable {
    if (!first) return;
    first = false;
    const std::vector<std::string> kept = lines_of(run.metrics_file());
    REQUIRE(kept.size() == 21);
    CHECK(std::equal(kept.begin(), kept.begin() + 20, before.begin()));
  };
  train_model(config, text.view(), options);
  std::vector<Index> steps, expected;
  for (const std::string& line : lines_of(run.metrics_file())) {
    const auto object = nlohmann::json::parse(line);
    if (object.contains("loss")) steps.push_back(object.at("step").get<Index>());
  }
  for (Index step = 1; step <= 40; ++step) expected.push_back(step);
  CHECK(steps == expected);
}

TEST_CASE("run: --from makes the given weights its checkpoint of step 0, and --resume alone starts there") {
  ResolvedConfig config = tiny_config();
  const TinyText text(config.config);
  const TemporaryFolder folder;
  const TrainOutcome first = train_model(config, text.view(), quiet_options(folder / "first"));

  config.config.optimizer.lr = 2e-3;
  TrainOptions from = quiet_options(folder / "whole");
  from.from = first.checkpoint;
  train_model(config, text.view(), from);
  const std::string expected = read_file(RunFolder(folder / "whole").checkpoint_file(40));

  // Stopped after 5 steps; then what kill -9 would have left: the checkpoint of step 0 only.
  from.folder = folder / "killed";
  const RunFolder killed(folder / "killed");
  train_up_to(5, config, text, from);
  std::filesystem::remove(killed.checkpoint_file(5));
  killed.set_latest(0);
  const Checkpoint begun(*killed.latest());
  CHECK(begun.record().step == 0);
  const auto given = Checkpoint(first.checkpoint).make_model(), kept = begun.make_model();
  const Tensor a = given->parameters().parameters().front().value();
  const Tensor b = kept->parameters().parameters().front().value();
  CHECK(std::equal(a.data, a.data + a.size(), b.data));
  SUBCASE("resumed") {}
  SUBCASE("killed between that checkpoint and the configuration") {
    std::filesystem::remove(killed.config_file());
  }
  TrainOptions resume = quiet_options(folder / "killed");
  resume.resume = true;
  train_model(config, text.view(), resume);
  CHECK(read_file(killed.checkpoint_file(40)) == expected);
}

TEST_CASE("run: a folder in use by another run is left alone") {
  const ResolvedConfig config = tiny_config();
  const TinyText text(config.config);
  const TemporaryFolder folder;
  TrainOptions options = quiet_options(folder / "run");
  options.after_step = [&, first = true](const StepDone&) mutable {
    if (std::exchange(first, false)) {
      TrainOptions second = quiet_options(folder / "run");
      second.resume = true;
      CHECK_THROWS_AS(train_model(config, text.view(), second), FileError);
    }
  };
  CHECK(train_model(config, text.view(), options).steps == config.config.train.steps);
  train_model(config, text.view(), quiet_options(folder / "alone"));
  CHECK(lines_of(RunFolder(folder / "run").metrics_file()).size() ==
        lines_of(RunFolder(folder / "alone").metrics_file()).size());
}

TEST_CASE("run: what a folder without config.toml holds is not replaced, but may be gone on with") {
  const ResolvedConfig config = tiny_config();
  const TinyText text(config.config);
  const TemporaryFolder folder;
  const RunFolder run(folder / "run");
  train_model(config, text.view(), quiet_options(run.path()));
  const std::string metrics = read_file(run.metrics_file());
  std::filesystem::remove(run.config_file());
  CHECK_THROWS_AS(train_model(config, text.view(), quiet_options(run.path())), ConfigError);
  CHECK(read_file(run.metrics_file()) == metrics);
  std::filesystem::remove(run.metrics_file());
  CHECK_THROWS_AS(train_model(config, text.view(), quiet_options(run.path())), ConfigError);
  CHECK_FALSE(run.holds_run());
  TrainOptions options = quiet_options(run.path());
  options.resume = true;
  CHECK(train_model(config, text.view(), options).steps == config.config.train.steps);
  CHECK(run.holds_run());
}

TEST_CASE("run: weights that do not fit leave no run behind") {
  ResolvedConfig config = tiny_config();
  const TinyText text(config.config);
  const TemporaryFolder folder;
  config.config.train.steps = 1;
  TrainOptions other = quiet_options(folder / "second");
  other.from = train_model(config, text.view(), quiet_options(folder / "first")).checkpoint;
  config.config.model.layers = 1;
  CHECK_THROWS_AS(train_model(config, text.view(), other), ConfigError);
  CHECK_FALSE(RunFolder(folder / "second").holds_run());
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

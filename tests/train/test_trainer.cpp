#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "layers/generate.h"
#include "tests/support/stop_signal.h"
#include "tests/support/thread_setting.h"
#include "tests/train/tiny.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/history.h"
#include "train/log.h"
#include "train/run_folder.h"
#include "train/signals.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

TrainOutcome train_in(const std::filesystem::path& folder, const ResolvedConfig& config, const TinyText& text,
                      bool resume = false, Index stop_after = 0) {
  spdlog::set_level(spdlog::level::off);  // what it says is tested at the shell
  TrainOptions options;
  options.folder = folder;
  options.resume = resume;
  options.gemm_gflops = 1;
  options.after_step = [=](const StepDone& done) {
    if (stop_after > 0 && done.step == stop_after) test::send_stop_signal(SIGTERM);
  };
  return train_model(config, text.view(), options);
}

std::vector<Index> metric_steps(const std::filesystem::path& folder) {
  std::ifstream file(folder / "metrics.jsonl");
  std::vector<Index> steps;
  for (std::string line; std::getline(file, line);) {
    const auto object = nlohmann::json::parse(line);
    if (object.contains("loss")) steps.push_back(object.at("step").get<Index>());
  }
  return steps;
}

std::string last_checkpoint(const std::filesystem::path& folder) {
  return read_file(RunFolder(folder).checkpoint_file(40));
}

TEST_CASE("trainer: stopped and resumed is the same run, bit for bit, at 1 and 2 threads") {
  const ThreadSetting as_before;
  for (const int threads : {1, 2}) {
    ResolvedConfig config = tiny_config();
    config.config.model.dropout = 0.1;
    config.config.train.micro_batch = 2;
    config.config.train.threads = threads;
    config.config.train.evaluate_every = 10;
    config.config.train.checkpoint_every = 15;
    const TinyText text(config.config);
    const TemporaryFolder folder;
    train_in(folder / "whole", config, text);

    // A signal after step 20, and one more after step 33, both between two checkpoints.
    for (const Index stop : {20, 33}) {
      const SignalGuard guard;
      CHECK_THROWS_AS(train_in(folder / "parts", config, text, true, stop), Stopped);
      clear_signal();
      const Checkpoint saved(*RunFolder(folder / "parts").latest());
      CHECK(saved.record().step == stop);
    }
    const TrainOutcome outcome = train_in(folder / "parts", config, text, true);
    CHECK(outcome.steps == 40);
    CHECK(last_checkpoint(folder / "whole") == last_checkpoint(folder / "parts"));

    std::vector<Index> every_step;
    for (Index step = 1; step <= 40; ++step) every_step.push_back(step);
    CHECK(metric_steps(folder / "parts") == every_step);
    // Once more: nothing is left to do.
    CHECK(train_in(folder / "parts", config, text, true).steps == 40);
    CHECK(metric_steps(folder / "parts") == every_step);
  }
}

TEST_CASE("trainer: 1, 2 and 4 threads each repeat bit for bit, and agree with one another") {
  const ThreadSetting as_before;
  std::optional<double> reference;
  for (const int threads : {1, 2, 4}) {
    CAPTURE(threads);
    ResolvedConfig config = tiny_config();
    config.config.train.threads = threads;
    const TinyText text(config.config);
    const TemporaryFolder folder;
    const double loss = train_in(folder / "first", config, text).loss;
    train_in(folder / "second", config, text);
    CHECK(last_checkpoint(folder / "first") == last_checkpoint(folder / "second"));
    if (!reference) reference = loss;
    CHECK(std::abs(loss - *reference) <= 1e-4);
  }
}

TEST_CASE("trainer: seed 0 is a seed like any other") {
  ResolvedConfig config = tiny_config();
  config.config.train.seed = 0;
  const TinyText text(config.config);
  const TemporaryFolder folder;
  train_in(folder / "a", config, text);
  train_in(folder / "b", config, text);
  CHECK(last_checkpoint(folder / "a") == last_checkpoint(folder / "b"));
  config.config.train.seed = 1;
  const double other = train_in(folder / "c", config, text).loss;
  config.config.train.seed = 0;
  CHECK(other != train_in(folder / "b", config, text, true).loss);
}

TEST_CASE("trainer: the validation loss is that of the non-overlapping evaluation at L") {
  const ResolvedConfig config = tiny_config();
  const TinyText text(config.config);
  const TemporaryFolder folder;
  const TrainOutcome outcome = train_in(folder.path(), config, text);
  const Checkpoint checkpoint(outcome.checkpoint);
  const auto model = checkpoint.make_model();
  const EvaluationPlan plan = evaluation_plan(config.config, scored_set(text.splits.validation, 64));
  const EvaluationResult result =
      evaluate_cell(*model, text.store, *text.tokenizer, plan, {Protocol::nonoverlapping, 16, 16, false});
  CHECK(result.nll == outcome.validation_loss);
  CHECK(RunFolder(folder.path()).best() == RunFolder(folder.path()).latest());
}

TEST_CASE("trainer: a folder with a run in it needs --resume, and the same configuration and text") {
  const ResolvedConfig config = tiny_config();
  const TinyText text(config.config);
  const TemporaryFolder folder;
  train_in(folder.path(), config, text);
  CHECK_THROWS_AS(train_in(folder.path(), config, text), ConfigError);
  ResolvedConfig other = config;
  other.config.optimizer.lr = 1e-4;
  CHECK_THROWS_AS(train_in(folder.path(), other, text, true), ConfigError);
  const TinyText another(config.config, tiny_text(32768).replace(0, 5, "xxxxx"));
  CHECK_THROWS_AS(train_in(folder.path(), config, another, true), DataError);
}

TEST_CASE("trainer: a loss that is no number stops the run, or is skipped and counted") {
  ResolvedConfig config = tiny_config();
  config.config.optimizer.lr = 1e30;
  config.config.schedule.warmup = 0;
  config.config.optimizer.weight_decay = 0;
  const TinyText text(config.config);
  const TemporaryFolder folder;
  try {
    train_in(folder / "stop", config, text);
    FAIL("not stopped");
  } catch (const NumericError& error) {
    const std::string message = error.what();
    CHECK(message.starts_with("step "));
    CHECK(message.find("first in \"") != std::string::npos);
    CHECK(message.find("on_nonfinite") != std::string::npos);
  }
  config.config.train.on_nonfinite = "skip";
  config.config.train.checkpoint_every = 30;
  // It goes on to the end, where a model that is no number is an error all the same.
  CHECK_THROWS_AS(train_in(folder / "skip", config, text), NumericError);
  const Checkpoint last(resolve_checkpoint(folder / "skip"));
  CHECK(last.record().step == 30);
  CHECK(last.record().skipped > 0);
}

TEST_CASE("trainer: --from starts from other weights") {
  ResolvedConfig config = tiny_config();
  const TinyText text(config.config);
  const TemporaryFolder folder;
  const TrainOutcome first = train_in(folder / "first", config, text);
  config.config.train.length = 32;
  config.config.train.steps = 1;
  config.config.schedule.warmup = 0;
  config.config.evaluate.lengths = {"1x"};
  TrainOptions options;
  options.folder = folder / "second";
  options.from = first.checkpoint;
  options.gemm_gflops = 1;
  const TrainOutcome second = train_model(config, text.view(), options);
  CHECK(second.loss < 5);  // an untrained model would stand at ln 256 = 5.5
  CHECK(second.loss == doctest::Approx(first.loss).epsilon(0.2));
}

TEST_CASE("trainer: targets are shifted once") {
  ResolvedConfig config = tiny_config();
  config.config.train.steps = 150;
  config.config.optimizer.lr = 1e-2;
  std::string letters;
  for (int i = 0; i < 6000; ++i) letters += "abc";
  const TinyText text(config.config, letters);
  const TemporaryFolder folder;
  const TrainOutcome outcome = train_in(folder.path(), config, text);
  CHECK(outcome.loss < 0.05);
  const auto model = Checkpoint(outcome.checkpoint).make_model();
  const std::vector<Token> prompt{'a'};
  const Generated made = generate(*model, prompt, {.tokens = 6, .sampling = {.temperature = 0}});
  CHECK(text.tokenizer->decode(made.tokens) == "bcabca");
}

TEST_CASE("history: NaN is never best, and does not block later ones") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<HistoryEntry> entries;
  std::vector<Index> best_after;
  for (const double value : {2.0, nan, 1.5, 1.8}) {
    entries.push_back({static_cast<Index>(entries.size()) + 1, value});
    best_after.push_back(best_entry(entries)->step);
  }
  CHECK(best_after == std::vector<Index>{1, 1, 3, 3});
  CHECK(best_entry(entries)->value == 1.5);
  entries = {{1, nan}};
  CHECK(best_entry(entries) == nullptr);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

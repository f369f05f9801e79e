#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "tests/support/stop_signal.h"
#include "tests/support/thread_setting.h"
#include "tests/train/tiny.h"
#include "train/checkpoint.h"
#include "train/log.h"
#include "train/optimizer.h"
#include "train/run_folder.h"
#include "train/schedule.h"
#include "train/signals.h"
#include "train/training_corpus.h"

/// Every choice that a run has: it trains, and stopped anywhere it goes on as if it had not stopped.
namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr Index steps = 10, stop = 4;

TrainOptions quiet(const std::filesystem::path& folder) {
  spdlog::set_level(spdlog::level::off);
  TrainOptions options;
  options.folder = folder;
  options.resume = true;
  options.gemm_gflops = 1;
  return options;
}

// One layer, dropout, four micro-batches a step, one checkpoint at the end.
ResolvedConfig short_config() {
  ResolvedConfig config = tiny_config();
  config.config.model.layers = 1;
  config.config.model.dropout = 0.1;
  config.config.train.tokens_per_step = 64;
  config.config.train.micro_batch = 1;
  config.config.train.steps = steps;
  config.config.evaluate.lengths = {"1x"};
  config.config.train.checkpoint_every = 0;
  return config;
}

std::string end_of_training(const std::filesystem::path& folder) {
  return read_file(RunFolder(folder).checkpoint_file(steps));
}

// Trains whole, and once more with a signal in the middle of the first epoch. The bytes of one weight.
std::string check_resume(const ResolvedConfig& config, const TrainingText& text) {
  const TemporaryFolder folder;
  const TrainOutcome whole = train_model(config, text, quiet(folder / "whole"));
  CHECK(whole.complete);
  TrainOptions options = quiet(folder / "parts");
  options.after_step = [](const StepDone& done) {
    if (done.step == stop) test::send_stop_signal(SIGTERM);
  };
  {
    const SignalGuard guard;
    CHECK_THROWS_AS(train_model(config, text, options), Stopped);
    clear_signal();
  }
  const Checkpoint saved(*RunFolder(folder / "parts").latest());
  CHECK(saved.record().step == stop);
  CHECK(saved.record().cursor.epoch == 0);
  CHECK(saved.record().cursor.index > 0);
  train_model(config, text, quiet(folder / "parts"));
  CHECK(end_of_training(folder / "whole") == end_of_training(folder / "parts"));
  const auto model = Checkpoint(whole.checkpoint).make_model();
  const Tensor value = model->parameters().parameters().front().value();
  return {reinterpret_cast<const char*>(value.data), static_cast<std::size_t>(value.size()) * sizeof(Real)};
}

TEST_CASE("training options: every optimizer under every schedule resumes bit for bit") {
  const ThreadSetting one(1);
  const TinyText text(short_config().config, tiny_text(8192));
  std::set<std::string> results;
  for (const std::string& optimizer : optimizer_kinds()) {
    for (const std::string& schedule : schedule_kinds()) {
      CAPTURE(optimizer);
      CAPTURE(schedule);
      ResolvedConfig config = short_config();
      config.config.optimizer.kind = optimizer;
      config.config.schedule.kind = schedule;
      config.config.schedule.decay = 0.75;                // the fall has begun where the run stops
      results.insert(check_resume(config, text.view()));  // no two of them are the same thing
    }
  }
  CHECK(results.size() == optimizer_kinds().size() * schedule_kinds().size());
}

TEST_CASE("training options: every optimizer learns") {
  for (const auto& [kind, rate] :
       {std::pair("adamw", 1e-2), std::pair("lion", 3e-3), std::pair("sgd", 0.3)}) {
    CAPTURE(kind);
    ResolvedConfig config = short_config();
    config.config.optimizer.kind = kind;
    config.config.optimizer.lr = rate;
    config.config.train.steps = 80;
    config.config.train.micro_batch = 4;
    const ThreadSetting one(1);
    const TinyText text(config.config, tiny_text(8192));
    const TemporaryFolder folder;
    CHECK(train_model(config, text.view(), quiet(folder.path())).validation_loss < 3);  // ln 256 = 5.5
  }
}

TEST_CASE("training options: every option of the model trains and resumes bit for bit") {
  const std::vector<std::pair<const char*, std::function<void(ModelConfig&)>>> options = {
      {"norm", [](ModelConfig& model) { model.norm = "rms"; }},
      {"swiglu", [](ModelConfig& model) { model.activation = "swiglu"; }},
      {"gelu_tanh", [](ModelConfig& model) { model.activation = "gelu_tanh"; }},
      {"parallel_residual", [](ModelConfig& model) { model.parallel_residual = true; }},
      {"key_value_heads", [](ModelConfig& model) { model.key_value_heads = 1; }},
      {"untied", [](ModelConfig& model) { model.tied = false; }},
      {"embedding_norm", [](ModelConfig& model) { model.embedding_norm = true; }},
      {"no bias", [](ModelConfig& model) { model.bias = false; }},
      {"feed_forward_width", [](ModelConfig& model) { model.feed_forward_width = 20; }}};
  const ThreadSetting one(1);
  ResolvedConfig all = short_config();
  const TinyText text(all.config, tiny_text(8192));
  for (const auto& [name, apply] : options) {
    CAPTURE(name);
    ResolvedConfig config = short_config();
    apply(config.config.model);
    if (std::string(name) != "gelu_tanh") apply(all.config.model);
    check_resume(config, text.view());
  }
  check_resume(all, text.view());
  all.config.optimizer.lr = 1e-2;
  all.config.train.steps = 60;
  const TemporaryFolder folder;
  CHECK(train_model(all, text.view(), quiet(folder.path())).validation_loss < 4);
}

TEST_CASE("training options: a budget stops after a step, saved, and changes nothing else") {
  ResolvedConfig config = short_config();
  config.config.train.evaluate_every = 3;
  const ThreadSetting one(1);
  const TinyText text(config.config, tiny_text(8192));
  const TemporaryFolder folder;
  train_model(config, text.view(), quiet(folder / "whole"));

  TrainOptions options = quiet(folder / "parts");
  options.budget_seconds = 1e-9;  // always over after one step
  for (Index step = 1; step <= 7; ++step) {
    const TrainOutcome outcome = train_model(config, text.view(), options);
    CHECK(outcome.steps == step);
    CHECK_FALSE(outcome.complete);
    CHECK(RunFolder(folder / "parts").latest() == outcome.checkpoint);
    CHECK(Checkpoint(outcome.checkpoint).record().step == step);
  }
  options.budget_seconds = 1e6;
  CHECK(train_model(config, text.view(), options).complete);
  CHECK(end_of_training(folder / "whole") == end_of_training(folder / "parts"));
  options.budget_seconds = 1e-9;  // nothing is left to stop
  CHECK(train_model(config, text.view(), options).complete);
}

TEST_CASE("training options: the last N checkpoints stay, and the best") {
  for (const Index keep : {1, 3}) {
    ResolvedConfig config = short_config();
    config.config.train.checkpoint_every = 2;
    config.config.train.evaluate_every = 2;
    config.config.train.keep = keep;
    const ThreadSetting one(1);
    const TinyText text(config.config, tiny_text(8192));
    const TemporaryFolder folder;
    TrainOptions options = quiet(folder.path());
    options.validate = [](Index step) {
      EvaluationResult result;
      result.nll = step == 2 ? 1.0 : step == 4 ? NAN : 2.0;
      return result;
    };
    train_model(config, text.view(), options);
    const RunFolder run(folder.path());
    std::set<Index> kept;
    for (Index step = 0; step <= steps; ++step)
      if (std::filesystem::exists(run.checkpoint_file(step))) kept.insert(step);
    CHECK(kept == (keep == 1 ? std::set<Index>{2, 10} : std::set<Index>{2, 6, 8, 10}));
    CHECK(run.best() == run.checkpoint_file(2));
    CHECK(Checkpoint(*run.best()).record().step == 2);
  }
}

// A text with one character that only a block held back has.
std::string text_with_a_stranger(const Config& config) {
  std::string text = tiny_text(8192);
  const Splits splits = configured_splits(config, static_cast<Index>(text.size()));
  text[static_cast<std::size_t>(splits.validation.front().begin + 100)] = 'Q';
  text[static_cast<std::size_t>(splits.train.front().begin + 100)] = 'z';
  return text;
}

TEST_CASE("training options: characters as tokens train, resume bit for bit and come back from the file") {
  const ThreadSetting one(1);
  ResolvedConfig config = short_config();
  config.config.data.tokenizer = "chars";
  const TemporaryFolder folder;
  config.config.data.source = folder.write("text", text_with_a_stranger(config.config));
  config.origins["data.vocabulary"] = "default";
  spdlog::set_level(spdlog::level::off);
  const SplitRule split = [&](Index tokens) { return configured_splits(config.config, tokens); };
  const Corpus corpus = load_training_corpus(config, split);
  CHECK(corpus.unknown == "\"Q\" (U+0051)");
  CHECK(config.config.data.vocabulary == corpus.tokenizer->size());
  CHECK(config.origins["data.vocabulary"] == "the text");
  check_resume(config, {corpus.store, *corpus.tokenizer, corpus.splits});

  const TrainOutcome outcome =
      train_model(config, {corpus.store, *corpus.tokenizer, corpus.splits}, quiet(folder / "run"));
  const Checkpoint checkpoint(outcome.checkpoint);
  const auto tokenizer = checkpoint.make_tokenizer();
  CHECK(tokenizer->table() == corpus.tokenizer->table());
  CHECK(tokenizer->digest() == corpus.tokenizer->digest());

  // To go on from it keeps its tokens; what it does not know is named.
  ResolvedConfig other = config;
  other.config.data.source = folder.write("less", tiny_text(8192));
  CHECK(load_training_corpus(other, split, &checkpoint).tokenizer->table() == tokenizer->table());
  CHECK_THROWS_AS(load_training_corpus(other, split), ConfigError);  // 66 tokens asked for, 65 found
  other.config.data.source = folder.write("more", "#" + tiny_text(8192));
  CHECK_THROWS_WITH_AS(load_training_corpus(other, split, &checkpoint), doctest::Contains("\"#\" (U+0023)"),
                       DataError);
}

TEST_CASE("training options: other tokens are told by content, where their number is the same") {
  ResolvedConfig config = short_config();
  config.config.train.steps = 1;
  config.config.data.tokenizer = "chars";
  config.config.data.vocabulary = 7;
  const auto train = [&](const std::filesystem::path& folder, const std::string& letters, bool from) {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += letters;
    std::vector<std::int32_t> table(letters.begin(), letters.end());
    const auto tokenizer = make_tokenizer("chars", table);
    const TokenStore store = TokenStore::from_text(text, *tokenizer, letters);
    TrainOptions options = quiet(folder);
    if (from) options.from = RunFolder(folder.parent_path() / "first").latest();
    train_model(config, {store, *tokenizer, configured_splits(config.config, store.size())}, options);
  };
  const TemporaryFolder folder;
  train(folder / "first", "abc", false);
  const char* error = "only it has \"c\" (U+0063), only the text \"abd\" has \"d\" (U+0064)";
  CHECK_THROWS_WITH_AS(train(folder / "first", "abd", false), doctest::Contains(error), DataError);
  CHECK_THROWS_WITH_AS(train(folder / "second", "abd", true), doctest::Contains(error), DataError);
  CHECK_FALSE(RunFolder(folder / "second").holds_run());
  config.config.data.vocabulary = 8;
  CHECK_THROWS_AS(train(folder / "third", "abc", false), ConfigError);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

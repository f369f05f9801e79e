#include <doctest/doctest.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/error.h"
#include "core/files.h"
#include "data/hdf5_reader.h"
#include "tests/support/small_disk.h"
#include "tests/support/text.h"
#include "tests/train/tiny.h"
#include "train/checkpoint.h"
#include "train/checkpoint_layout.h"
#include "train/run_folder.h"
#include "train/train_step.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// A tiny model after one update, and what a trainer would know of it.
struct State {
  explicit State(const ResolvedConfig& with = tiny_config())
      : config(with), model(model_plan(config.config)) {
    optimizer = make_optimizer(config.config.optimizer, model.parameters());
    for (Parameter& parameter : model.parameters().parameters()) {
      const Tensor grad = parameter.grad();
      for (Index i = 0; i < grad.size(); ++i) grad.data[i] = static_cast<Real>(i % 7 - 3);
    }
    optimizer->update({.rate = 0.1});
    record.step = 7;
    record.skipped = 1;
    record.threads = 3;
    record.cursor = {3, 5};
    record.corpus_source = "tiny";
    record.corpus_digest = "c0";
    record.tokenizer_kind = "bytes";
    record.tokenizer_digest = make_tokenizer("bytes")->digest();
    record.losses = {{6, 2.5}, {7, 2.25}};
    record.validation_losses = {{7, std::numeric_limits<double>::quiet_NaN()}};
  }
  CheckpointContents contents() const { return {model, optimizer.get(), config, record}; }

  ResolvedConfig config;
  Transformer model;
  std::unique_ptr<Optimizer> optimizer;
  TrainingRecord record;
};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const FileError& error) {
    return error.what();
  }
  return "no FileError";
}

using test::contains;

TEST_CASE("checkpoint: what was saved comes back, bit for bit") {
  const TemporaryFolder folder;
  const State state;
  save_checkpoint(folder / "step-00000007.h5", state.contents());
  const Checkpoint checkpoint(folder / "step-00000007.h5");
  CHECK(checkpoint.record().step == 7);
  CHECK(checkpoint.record().skipped == 1);
  CHECK(checkpoint.record().threads == 3);
  CHECK(checkpoint.record().cursor == SamplerCursor{3, 5});
  CHECK(checkpoint.record().losses == state.record.losses);
  CHECK(checkpoint.record().validation_losses.size() == 1);
  CHECK(config_difference(checkpoint.config().config, state.config.config).empty());

  const auto model = checkpoint.make_model();
  const auto optimizer = make_optimizer(state.config.config.optimizer, model->parameters());
  checkpoint.load_optimizer(*optimizer, model->parameters());
  CHECK(optimizer->updates() == 1);
  // Equal state, equal file.
  CHECK(checkpoint_image({*model, optimizer.get(), checkpoint.config(), checkpoint.record()}) ==
        checkpoint_image({state.model, state.optimizer.get(), checkpoint.config(), state.record}));
}

TEST_CASE("checkpoint: identical state gives an identical file") {
  const TemporaryFolder folder;
  const State one, two;
  save_checkpoint(folder / "a.h5", one.contents());
  save_checkpoint(folder / "b.h5", two.contents());
  CHECK(read_file(folder / "a.h5") == read_file(folder / "b.h5"));
}

TEST_CASE("checkpoint: the layout that other programs read") {
  const TemporaryFolder folder;
  ResolvedConfig config = tiny_config();
  config.config.train.seed = 0;
  const State state(config);
  save_checkpoint(folder / "c.h5", state.contents());
  const Hdf5Reader file = Hdf5Reader::open(folder / "c.h5", "checkpoint");
  CHECK(file.label("/", "format") == "tapeline");
  CHECK(file.integer("/", "format_version") == 1);
  CHECK(file.number<std::uint64_t>("/rng/seed") == 0);
  CHECK(file.number<Index>("/rng/threads") == 3);
  const std::string weight = "/model/blocks/0/attention/query/weight";
  CHECK(file.shape(weight).extents == std::vector<Index>{16, 16});
  CHECK(file.flag(weight, "weight_decay"));
  CHECK(file.label(weight, "role") == "weight");
  CHECK(file.label(weight, "sha256").size() == 64);
  CHECK_FALSE(file.flag("/model/blocks/0/attention/query/bias", "weight_decay"));
  CHECK(file.contains("/optimizer/blocks/0/attention/query/weight/m"));
  CHECK(file.contains("/optimizer/blocks/0/attention/query/weight/v"));
  CHECK(contains(file.text("/config/resolved"), "[train]"));
  int tied = 0;  // one table, stored once, its other use named
  for (const std::string& path : file.datasets("/model")) tied += file.has_attribute(path, "tied_to") ? 1 : 0;
  CHECK(tied == 1);
}

TEST_CASE("checkpoint: cut short or changed, it is refused by name") {
  const TemporaryFolder folder;
  const State state;
  save_checkpoint(folder / "good.h5", state.contents());
  const std::string good = read_file(folder / "good.h5");
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{96}, good.size() / 2, good.size() - 1}) {
    std::ofstream(folder / "bad.h5", std::ios::binary) << good.substr(0, size);
    const std::string message = message_of([&] { Checkpoint{folder / "bad.h5"}; });
    CHECK(contains(message, "bad.h5"));
    CHECK_FALSE(contains(message, "\n"));
  }
  for (std::size_t place = 3; place < good.size(); place += good.size() / 25) {
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ 0x10);
    std::ofstream(folder / "bad.h5", std::ios::binary) << bad;
    CHECK(contains(message_of([&] { Checkpoint{folder / "bad.h5"}; }), "bad.h5"));
  }
  CHECK(contains(message_of([&] { Checkpoint{folder / "none.h5"}; }), "none.h5"));
}

TEST_CASE("checkpoint: strict load lists what is missing, extra and mis-shaped, and changes nothing") {
  const TemporaryFolder folder;
  ResolvedConfig other = tiny_config();
  other.config.model.layers = 1;
  other.config.model.feed_forward = 2;
  const State state(other);
  save_checkpoint(folder / "other.h5", state.contents());

  Transformer model(model_plan(tiny_config().config));
  const Real before = model.parameters().parameters().front().value().data[3];
  const Checkpoint checkpoint(folder / "other.h5");
  const std::string message = message_of([&] { checkpoint.load_weights(model.parameters()); });
  CHECK(contains(message, "other.h5"));
  CHECK(contains(message, "missing: blocks/1/"));
  CHECK(contains(message, "[32, 16]"));
  CHECK(contains(message, "[64, 16]"));
  CHECK(model.parameters().parameters().front().value().data[3] == before);

  Transformer small(model_plan(other.config));
  save_checkpoint(folder / "large.h5", State().contents());
  CHECK(contains(message_of([&] { Checkpoint(folder / "large.h5").load_weights(small.parameters()); }),
                 "not in this model: blocks/1/"));
}

TEST_CASE("checkpoint: weights alone have no optimizer state to go on with") {
  const TemporaryFolder folder;
  State state;
  save_checkpoint(folder / "weights.h5", {state.model, nullptr, state.config, state.record});
  const Checkpoint checkpoint(folder / "weights.h5");
  checkpoint.load_weights(state.model.parameters());
  CHECK(contains(message_of([&] { checkpoint.load_optimizer(*state.optimizer, state.model.parameters()); }),
                 "weights only"));
}

TEST_CASE("checkpoint: a save that fails leaves the old file, and nothing that looks like a checkpoint") {
  const TemporaryFolder folder;
  State state;
  save_checkpoint(folder / "step-00000007.h5", state.contents());
  const std::string before = read_file(folder / "step-00000007.h5");
  state.record.step = 8;

  const auto former = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{8192, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message =
      message_of([&] { save_checkpoint(folder / "step-00000007.h5", state.contents()); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, former);

  CHECK(contains(message, "step-00000007.h5"));
  CHECK(read_file(folder / "step-00000007.h5") == before);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE(
    "checkpoint: a save on a full disk leaves the old files, and nothing that looks like a checkpoint") {
  const test::SmallDisk disk(400);
  if (!disk.mounted()) {
    MESSAGE(disk.why());
    return;
  }
  State state;
  save_checkpoint(disk / "step-00000007.h5", state.contents());
  const std::string before = read_file(disk / "step-00000007.h5");
  state.record.step = 8;
  disk.fill_up_to(before.size() / 2);
  for (const char* name : {"step-00000007.h5", "step-00000008.h5"}) {
    const std::string message = message_of([&] { save_checkpoint(disk / name, state.contents()); });
    CHECK(contains(message, name));
    CHECK(contains(message, "No space left"));
    CHECK_FALSE(contains(message, "\n"));
    CHECK(read_file(disk / "step-00000007.h5") == before);
    CHECK(std::distance(std::filesystem::directory_iterator(disk.path()), {}) == 2);  // with the filler
  }
  disk.empty_again();
  save_checkpoint(disk / "step-00000008.h5", state.contents());
  CHECK(Checkpoint(disk / "step-00000008.h5").record().step == 8);
}

TEST_CASE("checkpoint: it tells the encodings of the program that wrote it") {
  const TemporaryFolder folder;
  const State state;
  save_checkpoint(folder / "a.h5", state.contents());
  const Hdf5Reader file = Hdf5Reader::open(folder / "a.h5", checkpoint_layout::container_kind);
  CHECK(file.label("/", std::string(checkpoint_layout::creator_kinds)) ==
        fmt::format("{}", fmt::join(built_kinds(), ", ")));
}

TEST_CASE("checkpoint: a file of the first program is read, which does not tell its encodings" *
          test::needs({"rope"})) {
  const Checkpoint checkpoint(std::string(TAPELINE_TEST_DATA) + "/golden/first_checkpoint.h5");
  CHECK(checkpoint.record().step == 3);
  CHECK(checkpoint.config().config.positional.kind == "rope");
  const auto model = checkpoint.make_model();
  const auto optimizer = make_optimizer(checkpoint.config().config.optimizer, model->parameters());
  checkpoint.load_optimizer(*optimizer, model->parameters());
  CHECK(optimizer->updates() == 3);
}

TEST_CASE("run folder: what a command line may name") {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run");
  run.claim(tiny_config());
  CHECK(run.holds_run());
  CHECK_FALSE(run.latest());
  CHECK(contains(message_of([&] { resolve_checkpoint(run.path()); }), "the folder holds no checkpoint"));
  std::filesystem::create_directories(folder / "comparison" / "cells" / "rope-seed0");
  CHECK(contains(message_of([&] { resolve_checkpoint(folder / "comparison"); }),
                 "the folder holds a comparison; name one of its models, a folder in"));
  const State state;
  save_checkpoint(run.make_checkpoint_file(7), state.contents());
  run.set_latest(7);
  run.set_best(7);
  const std::filesystem::path file = run.checkpoint_file(7);
  CHECK(file.filename() == "step-00000007.h5");
  CHECK(resolve_checkpoint(run.path()) == file);
  CHECK(resolve_checkpoint(run.checkpoints()) == file);
  CHECK(resolve_checkpoint(run.checkpoints() / "latest") == file);
  CHECK(resolve_checkpoint(run.checkpoints() / "best") == file);
  CHECK(resolve_checkpoint(file) == file);
  CHECK(contains(message_of([&] { resolve_checkpoint(folder / "nowhere"); }), "nowhere"));
}

TEST_CASE("run folder: another configuration is refused with the keys that differ") {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run");
  run.claim(tiny_config());
  run.claim(tiny_config());
  ResolvedConfig other = tiny_config();
  other.config.train.steps = 41;
  try {
    run.claim(other);
    FAIL("not refused");
  } catch (const ConfigError& error) {
    CHECK(contains(error.what(), "train.steps 40, now 41"));
  }
}

TEST_CASE("run folder: the last checkpoints and the best one stay") {
  const TemporaryFolder folder;
  const RunFolder run(folder.path());
  for (const Index step : {10, 20, 30, 40}) std::ofstream(run.make_checkpoint_file(step)) << step;
  run.set_latest(40);
  run.set_best(10);
  run.prune(2);
  CHECK(std::filesystem::exists(run.checkpoint_file(10)));
  CHECK_FALSE(std::filesystem::exists(run.checkpoint_file(20)));
  CHECK(std::filesystem::exists(run.checkpoint_file(30)));
  CHECK(std::filesystem::exists(run.checkpoint_file(40)));
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

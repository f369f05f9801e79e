#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "core/sha256.h"
#include "data/container.h"
#include "data/hdf5_writer.h"
#include "layers/positional/kinds_of_build.h"
#include "train/checkpoint.h"
#include "train/checkpoint_layout.h"
#include "train/schedule.h"

namespace tapeline {

TrainingRecord fresh_record(const TokenStore& store, const Tokenizer& tokenizer) {
  TrainingRecord record;
  record.threads = thread_count();
  record.corpus_source = store.source();
  record.corpus_digest = store.digest();
  record.tokenizer_kind = tokenizer.kind();
  record.tokenizer_digest = tokenizer.digest();
  record.tokenizer_table = tokenizer.table();
  return record;
}

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

std::span<const Real> numbers_of(const Tensor& tensor) {
  return {tensor.data, static_cast<std::size_t>(tensor.size())};
}

void write_model(Hdf5Writer& file, const ParameterStore& store) {
  file.group(checkpoint_layout::model);
  for (const Parameter& parameter : store.parameters()) {
    const std::string path = checkpoint_layout::model_path(parameter.name());
    const std::span<const Real> values = numbers_of(parameter.value());
    file.numbers(path, values, checkpoint_layout::extents_of(parameter.shape()));
    file.attribute(path, "role", parameter.name().substr(parameter.name().rfind('/') + 1));
    file.attribute(path, "weight_decay", parameter.decays());
    if (!parameter.tied_to().empty()) file.attribute(path, "tied_to", parameter.tied_to());
    Sha256 digest;
    digest.update(values.data(), values.size_bytes());
    file.attribute(path, "sha256", digest.hex_digest());
  }
}

void write_optimizer(Hdf5Writer& file, const Optimizer& optimizer, const ParameterStore& store) {
  file.group(checkpoint_layout::optimizer);
  file.attribute(checkpoint_layout::optimizer, "kind", std::string(optimizer.kind()));
  file.attribute(checkpoint_layout::optimizer, "updates", std::int64_t{optimizer.updates()});
  std::size_t number = 0;
  for (const Parameter& parameter : store.parameters()) {
    for (std::size_t slot = 0; slot < optimizer.slots().size(); ++slot) {
      file.numbers(checkpoint_layout::optimizer_path(parameter.name(), optimizer.slots()[slot]),
                   numbers_of(optimizer.state(slot, number)),
                   checkpoint_layout::extents_of(parameter.shape()));
    }
    ++number;
  }
}

void write_entries(Hdf5Writer& file, const std::string& steps_path, const std::string& values_path,
                   const std::vector<HistoryEntry>& entries) {
  std::vector<Index> steps;
  std::vector<double> values;
  for (const HistoryEntry& entry : entries) {
    steps.push_back(entry.step);
    values.push_back(entry.value);
  }
  file.numbers(steps_path, steps);
  file.numbers(values_path, values);
}

// Random numbers are functions of (seed, step, place), the batches of (seed, epoch, index), the rate of the
// step: these few numbers are the whole state of training beside weights and moments.
void write_training(Hdf5Writer& file, const Config& config, const TrainingRecord& record) {
  file.group("/rng");
  file.attribute("/rng", "generator", std::string("philox4x32-10"));
  file.number("/rng/seed", config.train.seed);
  file.number("/rng/step", record.step);
  file.number("/rng/threads", Index{record.threads});

  file.text("/data/corpus_source", record.corpus_source);
  file.text("/data/corpus_digest", record.corpus_digest);
  file.text("/data/tokenizer_digest", record.tokenizer_digest);
  file.number("/data/cursor/epoch", record.cursor.epoch);
  file.number("/data/cursor/index", record.cursor.index);

  const Schedule schedule(config.schedule, config.optimizer.lr, config.train.steps);
  file.text("/schedule/kind", config.schedule.kind);
  file.number("/schedule/step", record.step);
  file.number("/schedule/skipped", record.skipped);
  file.number("/schedule/steps", config.train.steps);
  file.number("/schedule/warmup_steps", schedule.warmup_updates());
  file.number("/schedule/peak", config.optimizer.lr);
  file.number("/schedule/floor", config.schedule.floor);

  file.text("/tokenizer/kind", record.tokenizer_kind);
  file.text("/tokenizer/digest", record.tokenizer_digest);
  // A dataset, not an attribute: a vocabulary may pass 64 KB.
  if (!record.tokenizer_table.empty()) file.numbers("/tokenizer/table", record.tokenizer_table);

  write_entries(file, "/history/steps", "/history/losses", record.losses);
  write_entries(file, "/history/validation_steps", "/history/validation_losses", record.validation_losses);
}

}  // namespace

std::string checkpoint_image(const CheckpointContents& contents) {
  Hdf5Writer file;
  file.attribute("/", "format", std::string(checkpoint_layout::format));
  file.attribute("/", "format_version", checkpoint_layout::version);
  file.attribute("/", "creator_version", std::string(TAPELINE_VERSION));
  file.attribute("/", std::string(checkpoint_layout::creator_kinds),
                 fmt::format("{}", fmt::join(built_kinds(), ", ")));
  file.text("/config/resolved", resolved_text(contents.config.config));
  file.text("/config/origin", origin_text(contents.config));
  write_model(file, contents.model.parameters());
  if (contents.optimizer != nullptr) {
    write_optimizer(file, *contents.optimizer, contents.model.parameters());
  }
  write_training(file, contents.config.config, contents.record);
  return file.finish();
}

void save_checkpoint(const std::filesystem::path& path, const CheckpointContents& contents) {
  for (const Parameter& parameter : contents.model.parameters().parameters()) {
    require<NumericError>(
        std::ranges::all_of(numbers_of(parameter.value()), [](Real value) { return std::isfinite(value); }),
        "step {}: \"{}\" holds values that are not finite numbers: this model is of no use and is not saved; "
        "lower "
        "optimizer.lr",
        contents.record.step, parameter.name());
  }
  Container::write(path, checkpoint_layout::container_kind, checkpoint_image(contents));
}

}  // namespace tapeline::inline TAPELINE_PRECISION

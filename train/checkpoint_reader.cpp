#include <algorithm>
#include <map>
#include <set>

#include "core/excerpt.h"
#include "data/hdf5_reader.h"
#include "train/checkpoint.h"
#include "train/checkpoint_layout.h"
#include "train/config_derived.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

std::string extents_text(const std::vector<Index>& extents) {
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

// A tensor that a file must hold, and where it goes.
struct Wanted {
  std::string name;  // as messages name it
  Tensor into;
};

// Adds "missing a, b and 3 more" to the list of complaints.
void complain(std::vector<std::string>& complaints, std::string_view what,
              const std::vector<std::string>& names) {
  if (names.empty()) return;
  constexpr std::size_t shown = 8;
  const std::size_t count = std::min(names.size(), shown);
  std::string text =
      fmt::format("{} {}", what, fmt::join(names.begin(), names.begin() + static_cast<long>(count), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  complaints.push_back(std::move(text));
}

// Reads every wanted tensor below `group`, or nothing: names and shapes are compared first, and what does not
// match is told all at once.
void read_strictly(const Hdf5Reader& file, std::string_view group,
                   const std::map<std::string, Wanted>& wanted) {
  std::vector<std::string> missing, extra, misshaped;
  const std::vector<std::string> present =
      file.contains(group) ? file.datasets(group) : std::vector<std::string>();
  const std::set<std::string> held(present.begin(), present.end());
  for (const auto& [path, tensor] : wanted) {
    if (!held.contains(path)) {
      missing.push_back(tensor.name);
      continue;
    }
    const DatasetShape found = file.shape(path);
    const std::vector<Index> expected = checkpoint_layout::extents_of(tensor.into.shape);
    if (found.text || found.type != number_type_of<Real>() || found.extents != expected) {
      misshaped.push_back(fmt::format(
          "{} is {} {}, expected {} {}", tensor.name, found.text ? "text" : number_type_name(found.type),
          extents_text(found.extents), number_type_name(number_type_of<Real>()), extents_text(expected)));
    }
  }
  for (const std::string& path : present) {
    if (!wanted.contains(path)) extra.push_back(path.substr(group.size() + 1));
  }
  std::vector<std::string> complaints;
  complain(complaints, "missing:", missing);
  complain(complaints, "not in this model:", extra);
  complain(complaints, "of another shape:", misshaped);
  require<FileError>(complaints.empty(), "\"{}\": the tensors in {} do not fit the model; {}", file.name(),
                     group, fmt::join(complaints, "; "));
  for (const auto& [path, tensor] : wanted) {
    file.read_into(path, std::span<Real>(tensor.into.data, static_cast<std::size_t>(tensor.into.size())),
                   checkpoint_layout::extents_of(tensor.into.shape));
  }
}

std::vector<HistoryEntry> read_entries(const Hdf5Reader& file, const std::string& steps_path,
                                       const std::string& values_path) {
  const std::vector<Index> steps = file.numbers<Index>(steps_path);
  const std::vector<double> values = file.numbers<double>(values_path);
  require<FileError>(steps.size() == values.size(),
                     "\"{}\": {} has {} entries, {} has {}; they must be as many", file.name(), steps_path,
                     steps.size(), values_path, values.size());
  std::vector<HistoryEntry> entries;
  for (std::size_t i = 0; i < steps.size(); ++i) entries.push_back({steps[i], values[i]});
  return entries;
}

TrainingRecord read_record(const Hdf5Reader& file) {
  TrainingRecord record;
  record.step = file.number<Index>("/schedule/step");
  record.skipped = file.number<Index>("/schedule/skipped");
  if (file.contains("/rng/threads")) record.threads = static_cast<int>(file.number<Index>("/rng/threads"));
  record.cursor.epoch = file.number<std::uint64_t>("/data/cursor/epoch");
  record.cursor.index = file.number<Index>("/data/cursor/index");
  record.corpus_source = file.text("/data/corpus_source");
  record.corpus_digest = file.text("/data/corpus_digest");
  record.tokenizer_kind = file.text("/tokenizer/kind");
  record.tokenizer_digest = file.text("/tokenizer/digest");
  if (file.contains("/tokenizer/table"))
    record.tokenizer_table = file.numbers<std::int32_t>("/tokenizer/table");
  record.losses = read_entries(file, "/history/steps", "/history/losses");
  record.validation_losses = read_entries(file, "/history/validation_steps", "/history/validation_losses");
  return record;
}

}  // namespace

struct Checkpoint::Contents {
  std::filesystem::path path;
  Hdf5Reader file;
  ResolvedConfig config;
  TrainingRecord record;
};

Checkpoint::Checkpoint(const std::filesystem::path& path) {
  Hdf5Reader file = Hdf5Reader::open(path, checkpoint_layout::container_kind);
  const std::string format = file.label("/", "format");
  const std::int64_t version = file.integer("/", "format_version");
  require<FileError>(format == checkpoint_layout::format && version == checkpoint_layout::version,
                     "\"{}\": format \"{}\" version {}; this program reads \"{}\" version {}", path.string(),
                     excerpt(format), version, checkpoint_layout::format, checkpoint_layout::version);
  ResolvedConfig config = parse_resolved(file.text("/config/resolved"), file.text("/config/origin"),
                                         fmt::format("{}:/config/resolved", path.string()));
  TrainingRecord record = read_record(file);
  contents_ =
      std::make_unique<Contents>(Contents{path, std::move(file), std::move(config), std::move(record)});
}

Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;

const std::filesystem::path& Checkpoint::path() const { return contents_->path; }
const ResolvedConfig& Checkpoint::config() const { return contents_->config; }
const TrainingRecord& Checkpoint::record() const { return contents_->record; }

void Checkpoint::load_weights(ParameterStore& parameters) const {
  std::map<std::string, Wanted> wanted;
  for (Parameter& parameter : parameters.parameters()) {
    wanted[checkpoint_layout::model_path(parameter.name())] = {parameter.name(), parameter.mutable_value()};
  }
  read_strictly(contents_->file, checkpoint_layout::model, wanted);
}

void Checkpoint::load_optimizer(Optimizer& optimizer, const ParameterStore& parameters) const {
  const Hdf5Reader& file = contents_->file;
  require<FileError>(file.contains(checkpoint_layout::optimizer),
                     "\"{}\": it holds weights only, no optimizer state; start from it with --from",
                     file.name());
  const std::string kind = file.label(checkpoint_layout::optimizer, "kind");
  require<FileError>(kind == optimizer.kind(),
                     "\"{}\": its optimizer state is of kind \"{}\", expected \"{}\"", file.name(),
                     excerpt(kind), optimizer.kind());
  std::map<std::string, Wanted> wanted;
  std::size_t number = 0;
  for (const Parameter& parameter : parameters.parameters()) {
    for (std::size_t slot = 0; slot < optimizer.slots().size(); ++slot) {
      const std::string& slot_name = optimizer.slots()[slot];
      wanted[checkpoint_layout::optimizer_path(parameter.name(), slot_name)] = {
          parameter.name() + "/" + slot_name, optimizer.state(slot, number).reshaped(parameter.shape())};
    }
    ++number;
  }
  read_strictly(file, checkpoint_layout::optimizer, wanted);
  optimizer.set_updates(file.integer(checkpoint_layout::optimizer, "updates"));
}

std::unique_ptr<Tokenizer> Checkpoint::make_tokenizer() const {
  const TrainingRecord& stored = contents_->record;
  std::unique_ptr<Tokenizer> tokenizer;
  try {
    tokenizer = tapeline::make_tokenizer(stored.tokenizer_kind, stored.tokenizer_table);
  } catch (const Error& error) {
    fail<FileError>("\"{}\": its tokenizer cannot be made: {}", path().string(), error.what());
  }
  const Index vocabulary = contents_->config.config.data.vocabulary;
  require<FileError>(tokenizer->digest() == stored.tokenizer_digest && tokenizer->size() == vocabulary,
                     "\"{}\": its tokenizer \"{}\" has {} tokens and digest {}…, expected {} and {}…",
                     path().string(), tokenizer->kind(), tokenizer->size(), tokenizer->digest().substr(0, 12),
                     vocabulary, stored.tokenizer_digest.substr(0, 12));
  return tokenizer;
}

std::unique_ptr<Transformer> Checkpoint::make_model() const {
  auto model = std::make_unique<Transformer>(model_plan(contents_->config.config));
  load_weights(model->parameters());
  return model;
}

}  // namespace tapeline::inline TAPELINE_PRECISION

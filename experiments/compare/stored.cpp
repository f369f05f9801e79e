#include "experiments/compare/stored.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "experiments/command_line/as_typed.h"
#include "experiments/compare/comparison_file.h"
#include "experiments/compare/sweep.h"
#include "train/run_folder.h"

namespace tapeline {
namespace {

namespace fs = std::filesystem;

/// One folder as it stands.
struct StoredFolder {
  fs::path path;
  ResolvedConfig config;
  std::vector<Cell> cells;  ///< planned by that configuration; not all of them need stand here
  std::vector<SweepPoint> sweep;
  std::optional<ComparisonFacts> facts;
};

/// What the folder has of a sweep of learning rates; the cells get the rates that were chosen in it.
void read_sweep(StoredFolder& stored) {
  const std::vector<Cell> points = plan_sweep(stored.config.config, stored.cells);
  std::vector<CellRecord> records;
  for (const Cell& point : points) records.push_back(read_record(cell_folder(stored.path, point)));
  stored.sweep = measured_sweep(points, records);
  take_rates(stored.cells, stored.sweep);
}

StoredFolder open_folder(const fs::path& folder) {
  const RunFolder run(folder);
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  require<FileError>(fs::exists(status), "comparison \"{}\": there is no such folder", folder.string());
  require<FileError>(fs::is_directory(status),
                     "comparison \"{}\": it is no folder; name one that tapeline compare made",
                     folder.string());
  require<FileError>(!fs::exists(run.checkpoints(), error),
                     "comparison \"{}\": the folder holds a single run; tapeline evaluate measures it",
                     folder.string());
  require<FileError>(
      run.holds_run() || !fs::exists(folder / "report.html", error),
      "comparison \"{}\": the folder holds a report alone, without the models that it is of; name "
      "the folders that it was made from, they stand at the end of its report.html",
      folder.string());
  require<FileError>(
      run.holds_run(),
      "comparison \"{}\": there is no config.toml in the folder; name one that tapeline compare "
      "made",
      folder.string());
  StoredFolder stored{folder, run.stored_config(StoredFor::comparison), {}, {}, {}};
  stored.cells = plan_cells(stored.config);
  read_sweep(stored);
  stored.facts = read_facts(folder);
  return stored;
}

/// What two folders differ in besides the seeds.
std::vector<ConfigDifference> differences_of(const StoredFolder& first, const StoredFolder& other) {
  std::vector<ConfigDifference> differences = run_difference(first.config.config, other.config.config);
  std::erase_if(differences, [](const ConfigDifference& one) {
    return one.key == "train.seed" || one.key == "compare.seeds";
  });
  return differences;
}

/// With a sweep the first seed chose the learning rates of all.
bool same_rates(const StoredFolder& first, const StoredFolder& other) {
  return first.config.config.compare.sweep.empty() ||
         first.config.config.train.seed == other.config.config.train.seed;
}

/// Folders belong together when nothing but the seeds differs.
void require_same_comparison(const StoredFolder& first, const StoredFolder& other) {
  const std::vector<ConfigDifference> differences = differences_of(first, other);
  require<ConfigError>(differences.empty(),
                       "comparisons \"{}\" and \"{}\" do not belong together: {}; name shares of one "
                       "comparison, or seeds of one configuration",
                       first.path.string(), other.path.string(), describe(differences, " and "));
  require<ConfigError>(
      same_rates(first, other),
      "comparisons \"{}\" and \"{}\" do not belong together: each chose its learning rates by its own "
      "first seed, {} and {}",
      first.path.string(), other.path.string(), first.config.config.train.seed,
      other.config.config.train.seed);
}

/// The record without what a clock told, and how it was computed.
std::string without_speeds(CellRecord record) {
  record.tokens_per_second = 0;
  record.threads = 0;
  for (RecordedResult& recorded : record.results) recorded.result.tokens_per_second = 0;
  return record_text(record);
}

/// The finished cells of all folders, and of how many there is a plan.
class Gathered {
 public:
  void add(const StoredFolder& folder) {
    const Index share = shares_++;
    for (const SweepPoint& point : folder.sweep) {
      const auto at = std::ranges::find(folder.cells, point.variant, &Cell::variant) - folder.cells.begin();
      sweep_.try_emplace({static_cast<std::size_t>(at), place_in_sweep(folder, point)}, point);
    }
    for (std::size_t i = 0; i < folder.cells.size(); ++i) {
      const Cell& cell = folder.cells[i];
      // Within one configuration the plan is seed by seed, so seeds in ascending order, variants as they
      // stand.
      const Place place{cell.seed, i % variants_of(folder)};
      planned_.insert(place);
      seeds_.insert(cell.seed);
      CellRecord record = read_record(cell_folder(folder.path, cell));
      if (!record.complete) continue;
      require_same_text(folder, record);
      FinishedCell finished = finished_cell(cell, std::move(record));
      finished.share = share;
      const auto known = found_.find(place);
      if (known == found_.end()) {
        found_.emplace(place, Found{folder.path, std::move(finished)});
        continue;
      }
      require<ConfigError>(without_speeds(known->second.cell.record) == without_speeds(finished.record),
                           "comparisons \"{}\" and \"{}\" both hold {}, and its results differ; leave one of "
                           "the folders out",
                           known->second.folder.string(), folder.path.string(), cell.label());
    }
  }

  /// Seed by seed, within a seed in the order of the plan.
  std::vector<FinishedCell> cells() const {
    std::vector<FinishedCell> all;
    for (const auto& [place, found] : found_) all.push_back(found.cell);
    return all;
  }
  /// Variant by variant, in the order of the multiples.
  std::vector<SweepPoint> sweep() const {
    std::vector<SweepPoint> all;
    for (const auto& [place, point] : sweep_) all.push_back(point);
    return all;
  }
  const std::set<std::uint64_t>& seeds() const { return seeds_; }
  std::size_t planned() const { return planned_.size(); }

 private:
  using Place = std::pair<std::uint64_t, std::size_t>;  // seed, number of the variant
  struct Found {
    fs::path folder;
    FinishedCell cell;
  };
  /// The same name may have stood for another text.
  void require_same_text(const StoredFolder& folder, const CellRecord& record) {
    if (found_.empty()) return;
    const Found& other = found_.begin()->second;
    require<ConfigError>(other.cell.record.corpus_digest == record.corpus_digest,
                         "comparisons \"{}\" and \"{}\" do not belong together: \"{}\" was not the same "
                         "text when their models were trained",
                         other.folder.string(), folder.path.string(), folder.config.config.data.source);
  }
  static std::size_t place_in_sweep(const StoredFolder& folder, const SweepPoint& point) {
    const std::vector<double>& multiples = folder.config.config.compare.sweep;
    return static_cast<std::size_t>(std::ranges::find(multiples, point.multiple) - multiples.begin());
  }
  static std::size_t variants_of(const StoredFolder& folder) {
    return folder.cells.size() / static_cast<std::size_t>(folder.config.config.compare.seeds);
  }
  std::map<Place, Found> found_;
  std::map<std::pair<std::size_t, std::size_t>, SweepPoint> sweep_;  // number of the variant, of the multiple
  std::set<Place> planned_;
  std::set<std::uint64_t> seeds_;
  Index shares_ = 0;
};

/// What a folder without comparison.json lets one know.
ComparisonFacts facts_from_records(const StoredFolder& folder, const std::vector<FinishedCell>& cells) {
  ComparisonFacts facts;
  facts.command =
      fmt::format("tapeline compare {} --out {}", shell_quoted(RunFolder(folder.path).config_file().string()),
                  shell_quoted(folder.path.string()));
  facts.text_source = folder.config.config.data.source;
  facts.threads = folder.config.config.train.threads;
  for (const FinishedCell& cell : cells) {
    facts.text_digest = cell.record.corpus_digest;
    for (const RecordedResult& recorded : cell.record.results) {
      const EvaluationResult& result = recorded.result;
      if (result.status == "ok" && result.cell.on_whole_set()) facts.scored_tokens = result.scored_tokens;
    }
  }
  return facts;
}

/// The text that its models were trained on; empty: none has been, and nothing tells it.
std::string text_of(const StoredFolder& folder) {
  if (folder.facts) return folder.facts->text_digest;
  for (const Cell& cell : folder.cells) {
    const CellRecord record = read_record(cell_folder(folder.path, cell));
    if (!record.corpus_digest.empty()) return record.corpus_digest;
  }
  return {};
}

/// Whether a folder belongs to the comparison of another.
bool belong_together(const StoredFolder& first, const StoredFolder& other) {
  if (!differences_of(first, other).empty() || !same_rates(first, other)) return false;
  const std::string one = text_of(first), two = text_of(other);
  return one.empty() || two.empty() || one == two;
}

/// The comparison that these folders are parts of, which has been required of them.
Comparison gathered_comparison(const std::vector<StoredFolder>& stored) {
  std::vector<std::string> names;
  Gathered gathered;
  for (const StoredFolder& folder : stored) {
    names.push_back(folder.path.string());
    gathered.add(folder);
  }

  Comparison comparison;
  comparison.config = stored.front().config.config;
  comparison.config.train.seed = *gathered.seeds().begin();
  comparison.config.compare.seeds = static_cast<Index>(gathered.seeds().size());
  comparison.seeds.assign(gathered.seeds().begin(), gathered.seeds().end());
  comparison.cells = gathered.cells();
  comparison.sweep = gathered.sweep();
  comparison.planned = static_cast<Index>(gathered.planned());
  require<FileError>(!comparison.cells.empty(),
                     "comparison \"{}\": none of its cells is finished; the command that began it goes on",
                     fmt::join(names, "\", \""));

  if (names.size() > 1) comparison.folders = names;

  std::vector<std::string> commands;  // each share has its own
  for (const StoredFolder& folder : stored) {
    const ComparisonFacts facts = folder.facts.value_or(facts_from_records(folder, comparison.cells));
    if (std::ranges::find(commands, facts.command) == commands.end()) commands.push_back(facts.command);
    if (&folder != &stored.front()) {
      if (facts.threads != comparison.threads) comparison.threads = 0;
      continue;
    }
    comparison.text_source = facts.text_source;
    comparison.text_digest = facts.text_digest;
    comparison.text_tokens = facts.text_tokens;
    comparison.scored_tokens = facts.scored_tokens;
    comparison.threads = facts.threads;
  }
  comparison.command = fmt::format("{}", fmt::join(commands, "\n"));
  return comparison;
}

}  // namespace

Comparison read_comparison(const std::vector<fs::path>& folders) {
  require<ConfigError>(!folders.empty(),
                       "comparison: no folder is given; name one that tapeline compare made");
  std::vector<StoredFolder> stored;
  for (const fs::path& folder : folders) {
    stored.push_back(open_folder(folder));
    require_same_comparison(stored.front(), stored.back());
  }
  return gathered_comparison(stored);
}

std::vector<StoredComparison> read_comparisons(const std::vector<fs::path>& folders) {
  struct Group {
    std::vector<StoredFolder> folders;
    std::size_t known = 0;  // the first of them that knows its text
  };
  std::vector<Group> groups;
  for (const fs::path& folder : folders) {
    StoredFolder opened = open_folder(folder);
    const auto group = std::ranges::find_if(
        groups, [&](const Group& one) { return belong_together(one.folders[one.known], opened); });
    if (group == groups.end()) {
      groups.emplace_back().folders.push_back(std::move(opened));
      continue;
    }
    if (text_of(group->folders[group->known]).empty()) group->known = group->folders.size();
    group->folders.push_back(std::move(opened));
  }
  std::vector<StoredComparison> all;
  for (const Group& group : groups) {
    StoredComparison& one = all.emplace_back();
    for (const StoredFolder& folder : group.folders) one.folders.push_back(folder.path);
    one.comparison = gathered_comparison(group.folders);
  }
  return all;
}

}  // namespace tapeline

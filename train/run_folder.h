#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "train/config_loader.h"

namespace tapeline {

/// The files of one run: config.toml, metrics.jsonl, checkpoints/step-00000600.h5, checkpoints/latest and
/// checkpoints/best (small text files that name a checkpoint).
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path config_file() const { return folder_ / "config.toml"; }
  std::filesystem::path metrics_file() const { return folder_ / metrics_name; }
  std::filesystem::path checkpoints() const { return folder_ / checkpoints_name; }
  std::filesystem::path checkpoint_file(Index step) const;
  /// The same, for writing: makes the folder it stands in.
  std::filesystem::path make_checkpoint_file(Index step) const;

  /// Makes the folder. Throws ConfigError where something else has its name, FileError when it cannot be
  /// made.
  void make() const;
  /// Makes the folder and writes the configuration, when there is none yet. Throws ConfigError with the
  /// differing keys when the folder holds another one.
  void claim(const ResolvedConfig& config, StoredFor use = StoredFor::model) const;
  /// The configuration that claim() wrote. Throws FileError when the file is not as it was written.
  ResolvedConfig stored_config(StoredFor use = StoredFor::model) const;
  /// Where each value of that configuration came from, by key. Throws FileError when it cannot be read.
  std::map<std::string, std::string> origins() const;
  bool holds_run() const { return std::filesystem::exists(config_file()); }
  /// Throws ConfigError when the folder has no configuration and yet one of these, which a run would replace:
  /// nobody can tell whose it is. `names` are of files and folders in it.
  void require_vacant(std::initializer_list<const char*> names) const;
  /// Throws ConfigError when the folder has `name`, which says that it holds `what`, another kind of work.
  void require_none(const char* name, const char* what) const;
  /// require_vacant() for what train writes. The checkpoint of step 0 alone is no run yet.
  void require_vacant() const;

  /// The checkpoint that `latest` names, without that file the one of the last step; nullopt when there is
  /// none. Throws FileError when `latest` names nothing that is there.
  std::optional<std::filesystem::path> latest() const;
  /// The checkpoint that `best` names; nullopt when there is none.
  std::optional<std::filesystem::path> best() const;
  void set_latest(Index step) const { set_named("latest", step); }
  void set_best(Index step) const { set_named("best", step); }

  /// Removes all but the last `keep` checkpoints; what `latest` and `best` name stays.
  void prune(Index keep) const;

 private:
  static constexpr const char* metrics_name = "metrics.jsonl";
  static constexpr const char* checkpoints_name = "checkpoints";
  void set_named(const char* link, Index step) const;
  std::filesystem::path folder_;
};

/// The checkpoint meant by a command line: a file; a run folder or its checkpoints folder (their `latest`);
/// a file `latest` or `best`. Throws FileError that says what was looked for.
std::filesystem::path resolve_checkpoint(const std::filesystem::path& given);

}  // namespace tapeline

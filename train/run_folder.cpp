#include "train/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/excerpt.h"
#include "core/files.h"
#include "core/seal.h"

namespace tapeline {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view checkpoint_prefix = "step-";
constexpr std::string_view checkpoint_ending = ".h5";
constexpr std::string_view origins_heading = "# Where each value came from:";

std::string checkpoint_name(Index step) {
  return fmt::format("{}{:08}{}", checkpoint_prefix, step, checkpoint_ending);
}

bool is_checkpoint_name(const std::string& name) {
  return name.starts_with(checkpoint_prefix) && name.ends_with(checkpoint_ending);
}

// The checkpoints in a folder, in the order of their steps; none when there is no such folder.
std::vector<fs::path> checkpoints_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (is_checkpoint_name(entry.path().filename().string())) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

// The file that a small text file beside it names; nullopt when there is no such text file.
std::optional<fs::path> follow(const fs::path& link) {
  if (!fs::is_regular_file(link)) return std::nullopt;
  std::string name = read_file(link);
  while (!name.empty() && (name.back() == '\n' || name.back() == '\r')) name.pop_back();
  require<FileError>(is_checkpoint_name(name) && name.find('/') == std::string::npos,
                     "\"{}\" holds \"{}\", it should name a checkpoint beside it, as step-00000100.h5; "
                     "write one of them into it, or remove it to go on from the last one",
                     link.string(), excerpt(name));
  require<FileError>(
      fs::exists(link.parent_path() / name),
      "\"{}\" names \"{}\", and there is no such file beside it; write another one into it, or "
      "remove it to go on from the last one",
      link.string(), name);
  return link.parent_path() / name;
}

// What `latest` names. A checkpoint is complete as soon as it has its name, so without `latest` (a kill
// between the two files, or somebody's hand) the one of the last step is it.
std::optional<fs::path> latest_in(const fs::path& folder) {
  if (const auto named = follow(folder / "latest")) return named;
  const std::vector<fs::path> all = checkpoints_in(folder);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

// The configuration for people and for --config: values first, then where each came from, as comments.
std::string config_file_text(const ResolvedConfig& config) {
  std::string text = resolved_text(config.config);
  text += fmt::format("\n{}\n", origins_heading);
  for (const auto& [key, origin] : config.origins) text += fmt::format("# {}: {}\n", key, origin);
  return sealed(std::move(text), stored_config_seal);
}

}  // namespace

fs::path RunFolder::checkpoint_file(Index step) const { return checkpoints() / checkpoint_name(step); }

void RunFolder::make() const {
  std::error_code error;
  require<ConfigError>(!fs::exists(folder_, error) || fs::is_directory(folder_, error),
                       "\"{}\" is no folder; choose another place with --out",
                       excerpt(folder_.string(), 200));
  fs::create_directories(folder_, error);
  require<FileError>(!error, "\"{}\": the run folder cannot be made: {}; choose another place with --out",
                     excerpt(folder_.string(), 200), error.message());
}

void RunFolder::claim(const ResolvedConfig& config, StoredFor use) const {
  if (holds_run()) {
    const auto differences = run_difference(stored_config(use).config, config.config);
    require<ConfigError>(
        differences.empty(),
        "\"{}\" holds a run with another configuration: {}; choose another folder with --out",
        folder_.string(), describe(differences));
    return;
  }
  make();
  write_file(config_file(), config_file_text(config));
}

ResolvedConfig RunFolder::stored_config(StoredFor use) const {
  return parse_resolved(stored_config_text(config_file()), {}, config_file().string(), use);
}

void RunFolder::require_vacant(std::initializer_list<const char*> names) const {
  if (holds_run()) return;
  for (const char* name : names) {
    require<ConfigError>(!fs::exists(folder_ / name),
                         "\"{}\" holds {}, which would be replaced, and no config.toml that says what it is "
                         "of; choose another folder with --out",
                         folder_.string(), name);
  }
}

void RunFolder::require_none(const char* name, const char* what) const {
  std::error_code error;  // a name that no folder can have: told where it is made
  require<ConfigError>(!fs::exists(folder_ / name, error),
                       "\"{}\" holds {} ({}); choose another folder with --out", folder_.string(), what,
                       name);
}

void RunFolder::require_vacant() const {
  require_vacant({metrics_name});
  for (const fs::path& checkpoint : checkpoints_in(checkpoints())) {
    if (checkpoint != checkpoint_file(0)) require_vacant({checkpoints_name});
  }
}

std::map<std::string, std::string> RunFolder::origins() const {
  std::istringstream text(stored_config_text(config_file()));
  std::map<std::string, std::string> origins;
  std::string line;
  while (std::getline(text, line) && line != origins_heading) continue;
  while (std::getline(text, line)) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("# ") && colon != std::string::npos)
      origins[line.substr(2, colon - 2)] = line.substr(colon + 2);
  }
  return origins;
}

std::optional<fs::path> RunFolder::latest() const { return latest_in(checkpoints()); }

std::optional<fs::path> RunFolder::best() const { return follow(checkpoints() / "best"); }

fs::path RunFolder::make_checkpoint_file(Index step) const {
  std::error_code error;
  fs::create_directories(checkpoints(), error);
  require<FileError>(!error, "\"{}\": the folder cannot be made: {}", checkpoints().string(),
                     error.message());
  return checkpoint_file(step);
}

void RunFolder::set_named(const char* link, Index step) const {
  write_file(checkpoints() / link, checkpoint_name(step) + "\n");
}

void RunFolder::prune(Index keep) const {
  const std::vector<fs::path> steps = checkpoints_in(checkpoints());
  const std::optional<fs::path> last = latest(), good = best();
  const auto kept = static_cast<std::size_t>(std::max<Index>(keep, 1));
  for (std::size_t i = 0; i + kept < steps.size(); ++i) {
    if (steps[i] == last || steps[i] == good) continue;
    std::error_code ignored;  // what cannot be removed costs room, nothing else
    fs::remove(steps[i], ignored);
  }
}

fs::path resolve_checkpoint(const fs::path& given) {
  std::error_code error;
  const fs::file_status status = fs::status(given, error);
  require<FileError>(fs::exists(status), "checkpoint \"{}\": there is no such file or folder",
                     given.string());
  if (fs::is_directory(status)) {
    for (const fs::path& folder : {given / "checkpoints", given}) {
      if (const auto found = latest_in(folder)) return *found;
    }
    require<FileError>(
        !fs::is_directory(given / "cells", error),
        "checkpoint \"{0}\": the folder holds a comparison; name one of its models, a folder in "
        "\"{0}/cells\"",
        given.string());
    fail<FileError>(
        "checkpoint \"{}\": the folder holds no checkpoint; name a run folder or a step-….h5 file",
        given.string());
  }
  if (given.filename() == "latest" || given.filename() == "best") return *follow(given);
  return given;
}

}  // namespace tapeline

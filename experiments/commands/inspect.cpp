#include "experiments/commands/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/excerpt.h"
#include "experiments/commands/common.h"
#include "experiments/exit_code.h"
#include "experiments/inspect/damage.h"
#include "experiments/inspect/dataset_reading.h"
#include "experiments/inspect/inspection_json.h"
#include "experiments/inspect/summary_text.h"
#include "experiments/inspect/tensor_view.h"
#include "experiments/inspect/tree_text.h"
#include "experiments/inspect/verification.h"
#include "experiments/output.h"
#include "experiments/report/tables.h"
#include "experiments/table.h"
#include "train/checkpoint_layout.h"
#include "train/nearest_name.h"
#include "train/run_folder.h"

namespace tapeline {
namespace {

struct InspectCommand {
  std::string checkpoint, name, slice, match, sort = "file";
  bool all = false, verify = false;
  OutputOptions output;
};

struct Opened {
  std::filesystem::path path;
  Hdf5Reader file;
  Listing listing;
};

Opened open(const std::filesystem::path& path) {
  // Streamed: a look into a file of any size needs little memory.
  auto container = Container::open(path, checkpoint_layout::container_kind, Container::Access::streamed);
  Hdf5Reader file(container);
  Listing listing = read_listing(file, container->digest(), container->size());
  return {path, std::move(file), std::move(listing)};
}

std::string without_slash(const std::string& path) { return path.substr(path.starts_with('/') ? 1 : 0); }

/// The dataset or group meant by NAME: "blocks/0/attention/query/weight", "optimizer/…/m", "/history/losses".
std::string resolve_name(Opened& opened, const std::string& name) {
  for (const std::string& candidate :
       {fmt::format("/{}", without_slash(name)), checkpoint_layout::model_path(name),
        fmt::format("{}/{}", checkpoint_layout::optimizer, name)}) {
    std::string path = candidate;
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (opened.file.contains(path)) return path;
  }
  std::vector<std::string> names;
  for (const ListedDataset* dataset : opened.listing.datasets()) {
    names.push_back(dataset->name);
    names.push_back(without_slash(dataset->path));
  }
  for (const std::string& path : opened.file.datasets("/")) names.push_back(without_slash(path));
  const std::string nearest = nearest_name(without_slash(name), names);
  fail<ConfigError>("\"{}\" holds nothing of the name \"{}\"{}", opened.path.string(), name,
                    nearest.empty()
                        ? fmt::format("; tapeline inspect {} lists what it holds", opened.path.string())
                        : did_you_mean(nearest));
}

void add_statistics(const Hdf5Reader& file, const std::vector<ListedDataset*>& datasets) {
  for (ListedDataset* dataset : datasets) {
    if (dataset->is_tensor()) dataset->statistics = read_statistics(file, dataset->path);
  }
}

/// What a listing shows in another place than its tables, the values of the state and so on, as datasets too.
void add_unlisted(Opened& opened, const std::string& group) {
  for (const std::string& path : opened.file.datasets(group)) {
    const auto all = opened.listing.datasets();
    if (std::ranges::find(all, path, [](const ListedDataset* one) { return one->path; }) == all.end())
      opened.listing.other.push_back(read_dataset(opened.file, path));
  }
}

bool matches(const std::string& glob, const ListedDataset& dataset) {
  return glob.empty() || ::fnmatch(glob.c_str(), dataset.name.c_str(), 0) == 0 ||
         ::fnmatch(glob.c_str(), without_slash(dataset.path).c_str(), 0) == 0;
}

/// The datasets that the line speaks of, in the file's order, with or without the optimizer's.
std::vector<ListedDataset*> chosen(Listing& listing, const InspectCommand& command, const std::string& group,
                                   bool with_optimizer) {
  std::vector<ListedDataset*> found;
  for (auto* list : {&listing.model, &listing.optimizer, &listing.other}) {
    if (list == &listing.optimizer && !with_optimizer) continue;
    for (ListedDataset& dataset : *list) {
      const bool inside = group.empty() || group == "/" || dataset.path.starts_with(group + "/");
      if (inside && matches(command.match, dataset)) found.push_back(&dataset);
    }
  }
  return found;
}

/// The datasets that the line speaks of. A pattern is about the model, unless only the optimizer's names fit.
std::vector<ListedDataset*> chosen(Listing& listing, const InspectCommand& command,
                                   const std::string& group) {
  const bool everything = command.all || command.output.json || !group.empty();
  std::vector<ListedDataset*> found = chosen(listing, command, group, everything);
  if (found.empty() && !command.match.empty()) found = chosen(listing, command, group, true);
  return found;
}

/// One table for each kind of dataset; flat where an order other than the file's is wanted.
std::string tables_text(const std::vector<ListedDataset*>& datasets, const InspectCommand& command) {
  const bool flat = command.sort != "file";
  if (flat) return fmt::format("\n{}", tree_text(datasets, true, terminal_width()));
  std::string text;
  const auto add = [&](std::string_view title, const auto& belongs) {
    std::vector<ListedDataset*> some;
    std::ranges::copy_if(datasets, std::back_inserter(some), belongs);
    if (!some.empty()) text += fmt::format("\n{}\n{}", title, tree_text(some, false, terminal_width()));
  };
  const std::string model = fmt::format("{}/", checkpoint_layout::model);
  const std::string optimizer = fmt::format("{}/", checkpoint_layout::optimizer);
  add("Model", [&](const ListedDataset* one) { return one->path.starts_with(model); });
  add("Optimizer", [&](const ListedDataset* one) { return one->path.starts_with(optimizer); });
  add("Other", [&](const ListedDataset* one) {
    return !one->path.starts_with(model) && !one->path.starts_with(optimizer);
  });
  return text;
}

int show_one(const Opened& opened, const std::string& path, const InspectCommand& command) {
  require<ConfigError>(command.match.empty() && command.sort == "file",
                       "--match and --sort are for a list of tensors; \"{}\" is one", command.name);
  ListedDataset dataset = read_dataset(opened.file, path);
  add_statistics(opened.file, {&dataset});
  const TensorView view{opened.file, dataset, command.slice};
  write_output(command.output.json ? printed_json(tensor_json(view)) : tensor_text(view, terminal_width()));
  return exit_code::done;
}

int show_list(Opened& opened, const std::string& group, const InspectCommand& command) {
  require<ConfigError>(command.slice.empty(), "--slice {}: name the tensor that it is for", command.slice);
  if (!group.empty()) add_unlisted(opened, group);
  std::vector<ListedDataset*> datasets = chosen(opened.listing, command, group);
  require<ConfigError>(command.match.empty() || !datasets.empty(),
                       "--match \"{}\" fits none of the {} tensors of \"{}\"", command.match,
                       opened.listing.datasets().size(), opened.path.string());
  add_statistics(opened.file, datasets);
  sort_datasets(datasets, command.sort);
  if (command.output.json) {
    write_output(printed_json(listing_json(opened.listing, datasets)));
    return exit_code::done;
  }
  std::string text = opened.path.string() + "\n";
  if (group.empty() && command.match.empty())
    text += summary_text(opened.listing, command.all, terminal_width());
  text += tables_text(datasets, command);
  if (!command.all && group.empty() && command.match.empty() && !opened.listing.optimizer.empty())
    text += "\n--all lists the optimizer's tensors too; inspect CHECKPOINT NAME shows one tensor in full\n";
  write_output(text);
  return exit_code::done;
}

/// Opens the file; where only its digest does not match, the message says what is damaged.
Opened open_or_locate(const std::filesystem::path& path) {
  try {
    return open(path);
  } catch (const FileError& error) {
    try {
      Container::open_unverified(path, checkpoint_layout::container_kind);
    } catch (const FileError&) {
      throw error;  // the head already tells
    }
    fail<FileError>("{}; {}", error.what(), locate_damage(path));
  }
}

int report_healthy(const std::filesystem::path& path, const InspectCommand& command) {
  Opened opened = open_or_locate(path);
  const Verification found = verify_tensors(opened.file, opened.listing);
  require<FileError>(found.holds(), "\"{}\" is damaged: {}", path.string(), describe(found));
  if (command.output.json) {
    const nlohmann::ordered_json json = {{"file", path.string()},           {"verified", true},
                                         {"bytes", opened.listing.bytes},   {"sha256", opened.listing.sha256},
                                         {"tensors", found.tensors},        {"numbers", found.numbers},
                                         {"tensor_digests", found.digests}, {"not_read", found.unread}};
    write_output(printed_json(json));
    return exit_code::done;
  }
  std::string text = fmt::format("{}: whole and healthy\n", path.string());
  text += fmt::format("  file      {} bytes have the SHA-256 that the head says, {}\n",
                      number_text(opened.listing.bytes), opened.listing.sha256);
  text += fmt::format("  tensors   {} of {} carry a SHA-256 of their own, and it is theirs\n", found.digests,
                      found.tensors);
  text += fmt::format("  numbers   all {} are finite\n", number_text(found.numbers));
  if (!found.unread.empty())
    text += fmt::format("  not read  {}: of a type that this program does not know\n",
                        fmt::join(found.unread, ", "));
  write_output(text);
  return exit_code::done;
}

/// A file that can be read and is not whole is an answer, and no failure to give one.
int verify(const std::filesystem::path& path, const InspectCommand& command) {
  require<ConfigError>(command.name.empty() && command.match.empty() && command.slice.empty(),
                       "--verify looks at the whole file; leave NAME, --match and --slice away");
  try {
    return report_healthy(path, command);
  } catch (const FileError& error) {
    if (::access(path.c_str(), R_OK) != 0) throw;
    if (command.output.json) {
      const nlohmann::ordered_json json = {
          {"file", path.string()}, {"verified", false}, {"damage", error.what()}};
      write_output(printed_json(json));
    }
    write_error(error.what());
    return exit_code::unmet;
  }
}

int inspect(const InspectCommand& command) {
  command.output.set_up();
  require<ConfigError>(std::ranges::find(sort_keys(), command.sort) != sort_keys().end(),
                       "--sort: there is no order \"{}\"; there are {}", excerpt(command.sort),
                       fmt::join(sort_keys(), ", "));
  const std::filesystem::path path = resolve_checkpoint(command.checkpoint);
  if (command.verify) return verify(path, command);
  Opened opened = open(path);
  if (command.name.empty()) return show_list(opened, "", command);
  const std::string name = resolve_name(opened, command.name);
  return opened.file.is_group(name) ? show_list(opened, name, command) : show_one(opened, name, command);
}

}  // namespace

Command inspect_command() {
  const auto options = std::make_shared<InspectCommand>();
  Command command{.name = "inspect",
                  .description = "what a checkpoint holds: tensors, statistics, state, config",
                  .examples = {"tapeline inspect runs/mine --match '*attention*' --sort norm"},
                  .run = [options] { return inspect(*options); }};
  command.options = {
      checkpoint_word(options->checkpoint),
      {.name = "NAME", .help = "one tensor in full, or the tensors of one group", .target = &options->name},
      {.name = "--slice",
       .value = "SLICE",
       .help = "which values of NAME, as in numpy: 0:4,10:20",
       .target = &options->slice},
      {.name = "--match",
       .value = "GLOB",
       .help = "only tensors whose name fits: '*/attention/*'",
       .target = &options->match},
      {.name = "--sort",
       .value = "KEY",
       .help = fmt::format("order: {}; default file", fmt::join(sort_keys(), ", ")),
       .target = &options->sort,
       .offers = sort_keys()},
      {.name = "--all",
       .help = "list the optimizer's tensors and every key of the config too",
       .target = &options->all},
      {.name = "--verify",
       .help = "check every digest and that all numbers are finite",
       .target = &options->verify},
  };
  command.details = {
      "Shows the tensors of a checkpoint as a tree with shapes, types and statistics, the state of training "
      "with its losses, and the configuration with the origin of every value; with NAME one tensor in full: "
      "values, a slice of them, a histogram. Files of any size are read piece by piece.",
      "--verify reads every byte: digests, and that all numbers are finite; the exit status is 4 when "
      "something is damaged."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::set<std::string> folders = {"core", "layers", "data", "train", "experiments", "tests"};

/// What the files of a folder may include of ours. `only`: when not empty, just these files of core.
struct Rule {
  std::set<std::string> may;
  std::set<std::string> only_of_core;
};

const std::map<std::string, Rule> rules = {
    {"core", {{"core"}, {}}},
    {"layers", {{"core", "layers"}, {}}},
    {"data",
     {{"core", "data"},
      {"core/child_process.h", "core/error.h", "core/descriptor.h", "core/index.h", "core/random.h",
       "core/files.h", "core/sha256.h", "core/shape.h", "core/parallel.h", "core/memory.h", "core/excerpt.h",
       "core/counted.h", "core/utf8.h", "core/watch.h"}}},
    {"train", {{"core", "layers", "data", "train"}, {}}},
    {"experiments", {{"core", "layers", "data", "train", "experiments"}, {}}}};

std::string first_part(const std::string& path) { return path.substr(0, path.find('/')); }

/// Every broken arrow among `includes` of one file; the path is relative to the top.
std::vector<std::string> broken(const std::string& file, const std::vector<std::string>& includes) {
  std::vector<std::string> found;
  const auto rule = rules.find(first_part(file));
  if (rule == rules.end()) return found;
  for (const std::string& include : includes) {
    const std::string folder = first_part(include);
    if (!folders.contains(folder) || include.find('/') == std::string::npos) continue;
    const bool folder_allowed = rule->second.may.contains(folder);
    const bool file_allowed =
        folder != "core" || rule->second.only_of_core.empty() || rule->second.only_of_core.contains(include);
    // A kernel gets plain numbers, never a place on the tape.
    const bool kernel = file.starts_with("core/kernels/");
    const bool tape = include == "core/tape.h" || include == "core/ops.h" || include == "core/attention.h" ||
                      include == "core/parameter.h";
    if (!folder_allowed || !file_allowed || (kernel && tape)) found.push_back(file + " includes " + include);
  }
  return found;
}

std::vector<std::string> includes_of(const fs::path& path) {
  static const std::regex include("^\\s*#\\s*include\\s*\"([^\"]+)\"");
  std::vector<std::string> includes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_search(line, match, include)) includes.push_back(match[1]);
  }
  return includes;
}

/// Whether `name` includes the tape, directly or through other files of the core.
bool reaches_tape(const fs::path& top, const std::string& name, std::set<std::string>& seen) {
  if (name == "core/tape.h") return true;
  if (!seen.insert(name).second) return false;
  for (const std::string& include : includes_of(top / name)) {
    if (first_part(include) == "core" && fs::exists(top / include) && reaches_tape(top, include, seen))
      return true;
  }
  return false;
}

}  // namespace

TEST_CASE("include directions: a kernel does not see the tape through other headers either") {
  const fs::path top = TAPELINE_SOURCE_DIRECTORY;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top / "core/kernels")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), top).string();
    std::set<std::string> seen;
    CHECK_MESSAGE(!reaches_tape(top, name, seen), name);
  }
  std::set<std::string> seen;
  CHECK(reaches_tape(top, "core/ops/heads.cpp", seen));
}

TEST_CASE("include directions: core -> nothing, layers -> core, data -> a little of core, train -> these") {
  const fs::path top = TAPELINE_SOURCE_DIRECTORY;
  std::size_t files = 0;
  for (const auto& [folder, rule] : rules) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top / folder)) {
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file() || (extension != ".h" && extension != ".cpp")) continue;
      ++files;
      const std::string name = fs::relative(entry.path(), top).string();
      for (const std::string& arrow : broken(name, includes_of(entry.path()))) FAIL_CHECK(arrow);
    }
  }
  CHECK(files > 100);
}

TEST_CASE("include directions: a wrong arrow is seen") {
  CHECK(broken("core/shape.cpp", {"core/shape.h", "fmt/format.h"}).empty());
  CHECK(broken("core/shape.cpp", {"layers/pass.h"}).size() == 1);
  CHECK(broken("layers/pass.cpp", {"train/config.h"}).size() == 1);
  CHECK(broken("data/splits.cpp", {"core/error.h"}).empty());
  CHECK(broken("data/splits.cpp", {"core/tensor.h"}).size() == 1);
  CHECK(broken("train/trainer.cpp", {"experiments/table.h"}).size() == 1);
  CHECK(broken("core/kernels/rows.cpp", {"core/tape.h"}).size() == 1);
  CHECK(broken("core/ops/linear.cpp", {"core/tape.h"}).empty());
}

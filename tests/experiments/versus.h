#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

/// experiments/bench/versus_pytorch as someone at a shell sees it.
namespace tapeline::test {

inline LeftOut needs_python() {
  return {std::filesystem::exists("/usr/bin/python3") ? "" : "without python3"};
}

inline LeftOut needs_pytorch() {
  for (const char* package : {"torch", "h5py"}) {
    if (!std::filesystem::exists(std::filesystem::path("/usr/lib/python3/dist-packages") / package))
      return {fmt::format("without python3-{}", package)};
  }
  return needs_python();
}

/// $versus is the driver with the program of this build; temporary folders are made in tmp/.
inline Ran run_versus(const Shell& shell, const std::string& script) {
  std::filesystem::create_directory(shell.folder() / "tmp");
  return shell("export TMPDIR=\"$PWD/tmp\"\nversus='" TAPELINE_SOURCE_DIRECTORY
               "/experiments/bench/versus_pytorch --threads 1 --tapeline '\"$tapeline\"\n" +
               script);
}

inline std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

inline void check_nothing_left(const Shell& shell) {
  CHECK(names_in(shell.folder() / "tmp").empty());
  CHECK_FALSE(std::filesystem::exists(TAPELINE_SOURCE_DIRECTORY "/experiments/bench/__pycache__"));
}

}  // namespace tapeline::test

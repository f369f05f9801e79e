#include "experiments/doctor/libraries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/opensslv.h>
#include <spdlog/version.h>
#include <toml++/impl/version.h>

#include <CLI/Version.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/detail/abi_macros.hpp>

#include "core/kernels/onednn.h"
#include "core/kernels/openblas.h"
#include "core/kernels/vector_target.h"
#include "data/hdf5_version.h"
#include "experiments/doctor/loaded_files.h"

namespace tapeline {
namespace {

constexpr const char* rebuild = "cmake --preset release && cmake --build --preset release";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// The line that keeps the loader from taking this file, where the environment made it; else empty.
std::string unset_line(const std::string& file) {
  const std::string preloaded = variable("LD_PRELOAD");
  if (!file.empty() && preloaded.find(file_name(file)) != std::string::npos) return "unset LD_PRELOAD";
  if (preloaded.find("blas") != std::string::npos) return "unset LD_PRELOAD";
  // What is loaded bears its real name, the folder on the list may be a link to it.
  std::string folders = variable("LD_LIBRARY_PATH");
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    std::error_code none;
    const std::filesystem::path folder = folders.substr(0, end);
    if (!folder.empty() &&
        std::filesystem::equivalent(folder, std::filesystem::path(file).parent_path(), none))
      return "unset LD_LIBRARY_PATH";
    folders.erase(0, std::min(end + 1, folders.size()));
  }
  return {};
}

Finding openblas() {
  const OpenBlasInfo info = openblas_info();
  const std::string found = fmt::format("{}; {} flavour, {}", info.config, info.flavour, info.file);
  if (info.flavour == "openmp") return all_well("openblas", found);
  std::string mend = unset_line(info.file);
  if (mend.empty())
    mend = fmt::format("apt-get install --no-install-recommends libopenblas-openmp-dev && {}", rebuild);
  if (info.flavour == "pthread")
    return {"openblas", Finding::State::problem,
            found + ": its thread pool fights OpenMP's, so it is run on one thread", mend};
  return {"openblas", Finding::State::note, found + ": it uses one thread", mend};
}

Finding onednn() {
  const OneDnnInfo info = onednn_info();
  const std::string found =
      fmt::format("{}, threads of {}, kernels for {}", info.version, info.runtime, info.instruction_set);
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
    if (!variable(name).empty())
      return {"onednn", Finding::State::note, fmt::format("{}; {} holds back what it may use", found, name),
              fmt::format("unset {}", name)};
  }
  if (info.runtime != "openmp")
    return {"onednn", Finding::State::note, found + ": not the threads that this program uses",
            "apt-get install --no-install-recommends libdnnl2"};
  return all_well("onednn", found);
}

Finding hdf5(const std::vector<std::string>& files) {
  const Hdf5Version version = hdf5_version();
  const auto loaded = files_named(files, "libhdf5");
  const std::string found = fmt::format("{}, {}", version.loaded, fmt::join(loaded, ", "));
  if (version.loaded == version.built) return all_well("hdf5", found);
  const std::string unset = loaded.empty() ? std::string() : unset_line(loaded.front());
  return {
      "hdf5", Finding::State::problem,
      fmt::format("{}, but the program was built with {}: it ends at the first file", found, version.built),
      unset.empty() ? rebuild : unset};
}

/// For a second runtime that stands under another name than the environment gives.
std::string openmp_remedy() {
  if (!variable("LD_PRELOAD").empty()) return "unset LD_PRELOAD";
  if (!variable("LD_LIBRARY_PATH").empty()) return "unset LD_LIBRARY_PATH";
  return "ldd \"$(command -v tapeline)\" shows which library brings the second one";
}

Finding openmp(const std::vector<std::string>& files) {
  const auto runtimes = openmp_runtimes(files);
  if (runtimes.empty()) return {"openmp", Finding::State::note, "no runtime is loaded", rebuild};
  if (runtimes.size() == 1) return all_well("openmp", runtimes.front());
  std::string mend;
  for (const std::string& runtime : runtimes) {
    if (mend.empty()) mend = unset_line(runtime);
  }
  return {"openmp", Finding::State::problem,
          fmt::format("{} runtimes are loaded, and their threads fight: {}", runtimes.size(),
                      fmt::join(runtimes, ", ")),
          mend.empty() ? openmp_remedy() : mend};
}

std::string with_file(std::string version, const std::vector<std::string>& files) {
  return files.empty() ? version : fmt::format("{}, {}", version, files.front());
}

std::string version_text(int major, int minor, int patch) {
  return fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace

Findings examine_libraries() {
  const std::vector<std::string> files = loaded_files();
  return {
      openblas(), onednn(), openmp(files), hdf5(files),
      all_well("highway", with_file(vector_target().version, files_named(files, "libhwy"))),
      all_well("fmt", with_file(version_text(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100),
                                files_named(files, "libfmt"))),
      all_well("spdlog", with_file(version_text(SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH),
                                   files_named(files, "libspdlog"))),
      all_well("libcrypto", with_file("built with " OPENSSL_VERSION_TEXT, files_named(files, "libcrypto"))),
      all_well("toml++", with_file(version_text(TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH),
                                   files_named(files, "libtomlplusplus"))),
      // Random123 is headers too, and has no version to tell.
      all_well("headers only",
               fmt::format("CLI11 {}, nlohmann-json {}.{}.{}", CLI11_VERSION, NLOHMANN_JSON_VERSION_MAJOR,
                           NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH))};
}

}  // namespace tapeline

#include "experiments/doctor/loaded_files.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace tapeline {

std::vector<std::string> loaded_files(std::string_view maps) {
  std::vector<std::string> files;
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size() - 1);
    // Addresses, rights, offset, device and number hold no slash before the device's and none at a word's
    // start.
    const std::string_view line = maps.substr(0, maps[end] == '\n' ? end : end + 1);
    const std::size_t path = line.find(" /");
    if (path != line.npos) {
      std::string file(line.substr(path + 1));
      if (std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
    }
    maps.remove_prefix(end + 1);
  }
  return files;
}

std::vector<std::string> loaded_files() {
  std::ifstream maps("/proc/self/maps");
  return loaded_files(std::string(std::istreambuf_iterator<char>(maps), {}));
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> files_named(const std::vector<std::string>& files, std::string_view name) {
  std::vector<std::string> found;
  std::ranges::copy_if(files, std::back_inserter(found),
                       [&](const std::string& file) { return file_name(file).starts_with(name); });
  return found;
}

std::vector<std::string> openmp_runtimes(const std::vector<std::string>& files) {
  std::vector<std::string> found;
  for (const char* name : {"libgomp", "libiomp", "libomp"}) {
    // "libomp.so.5", "libomp5.so", "libgomp-a34b3233.so.1.0.0" (as wheels carry it); not "libompitrace.so".
    for (const std::string& file : files_named(files, name)) {
      const std::string_view rest = file_name(file).substr(std::string_view(name).size());
      if (rest.find(".so") != rest.npos && rest.find_first_of("5.-") == 0) found.push_back(file);
    }
  }
  return found;
}

}  // namespace tapeline

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapeline {

/// The files that are mapped into this process, each once, in the order of `maps`: the text of
/// /proc/self/maps. Empty where the system has none.
std::vector<std::string> loaded_files(std::string_view maps);
std::vector<std::string> loaded_files();

/// The name of a file without its folder.
std::string_view file_name(std::string_view path);

/// Those whose name begins with `name`: "libfmt" finds /usr/lib/libfmt.so.9.1.0.
std::vector<std::string> files_named(const std::vector<std::string>& files, std::string_view name);

/// The OpenMP runtimes among them: libgomp (GNU), libiomp5 (Intel), libomp (LLVM).
std::vector<std::string> openmp_runtimes(const std::vector<std::string>& files);

}  // namespace tapeline

#pragma once

#include <filesystem>
#include <string>

namespace tapeline {

/// Where a checkpoint whose digest does not match is damaged, in words: the tensors whose values are not
/// those of their own SHA-256. HDF5 may crash on such a file or run forever, so it is walked in a child
/// process under limits of memory and time; how that ended is then the answer.
std::string locate_damage(const std::filesystem::path& path);

}  // namespace tapeline

#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tapeline {

/// The whole content of a regular file. Throws FileError naming the path and the system's reason, and for
/// anything that is no regular file (a pipe could be waited for, and a device read, for ever).
std::string read_file(const std::filesystem::path& path);

/// Replaces a file, or leaves it as it was: the parts, one after another, go into a temporary file in the
/// same folder, which is flushed to disk, read back and compared, and renamed over `path`; then the folder is
/// flushed. At every instant `path` is the complete old or the complete new file; a link there stays, what it
/// leads to is replaced. What is there and is no regular file (a device, a pipe, a folder) is refused. When
/// anything fails the temporary file is removed and FileError names the path and the system's reason (disk
/// full, file too large, no permission). The program must ignore SIGXFSZ for a file-size limit to arrive as
/// an error.
void write_file(const std::filesystem::path& path, std::initializer_list<std::string_view> parts);
void write_file(const std::filesystem::path& path, std::string_view content);

/// Throws, before there is anything to write, what write_file() would: for a folder that is missing or
/// closed, for a path that holds no regular file. Leaves nothing behind.
void check_can_write(const std::filesystem::path& path);

}  // namespace tapeline

#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/index.h"

namespace tapeline {

/// A file of ours: 512 bytes of text in front, then an HDF5 file. The text says what it is ("tapeline
/// checkpoint"), the format version, and the length and SHA-256 of the rest, so that damage is found before
/// HDF5, which can crash on it, sees a byte. HDF5 tools skip such a block by themselves.
class Container {
 public:
  static constexpr Index block_size = 512;
  static constexpr int format_version = 1;

  /// Reads (small) or maps (large) the file and verifies all of it. `kind`: "checkpoint", "tokens". Throws
  /// FileError, one line that names the file: not there, not of ours, of another kind, of a newer format, cut
  /// short, changed.
  static std::shared_ptr<const Container> open(const std::filesystem::path& path, std::string_view kind);
  /// What the front of the file says it is; nothing for a file that is not one of ours.
  static std::optional<std::string> kind_of(const std::filesystem::path& path);
  /// The same for bytes, of which only the front counts.
  static std::optional<std::string> kind_of_bytes(std::string_view bytes);
  /// Writes block and body, atomically: afterwards the path names the old file or the new one, whole.
  static void write(const std::filesystem::path& path, std::string_view kind, std::string_view body);

  /// Bytes without a block that need no verification.
  Container(std::string bytes, std::string name);
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;
  ~Container();

  /// The HDF5 file.
  std::span<const unsigned char> body() const { return body_; }
  /// As messages name it.
  const std::string& name() const { return name_; }
  /// SHA-256 of the body, in hex; empty for one that was not read from a file.
  const std::string& digest() const { return digest_; }

 private:
  Container() = default;
  void load(const std::filesystem::path& path);
  void verify(std::string_view kind);

  std::string name_, digest_;
  std::string bytes_;       // a small file
  void* mapped_ = nullptr;  // a large one
  std::size_t mapped_size_ = 0;
  std::span<const unsigned char> body_;  // at first the whole file, once verified what follows the block
};

}  // namespace tapeline

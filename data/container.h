#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/descriptor.h"
#include "core/index.h"

namespace tapeline {

/// A file of ours: 512 bytes of text in front, then an HDF5 file. The text says what it is ("tapeline
/// checkpoint"), the format version, and the length and SHA-256 of the rest, so that damage is found before
/// HDF5, which can crash on it, sees a byte. HDF5 tools skip such a block by themselves.
class Container {
 public:
  static constexpr Index block_size = 512;
  static constexpr int format_version = 1;

  /// How the bytes of an open file are had.
  enum class Access {
    held,      ///< read (small) or mapped (large): body() has them all
    streamed,  ///< from the open file, piece by piece: the memory needed does not grow with the file
  };

  /// Opens the file and verifies all of it. `kind`: "checkpoint", "tokens". Throws FileError, one line that
  /// names the file: not there, not of ours, of another kind, of a newer format, cut short, changed.
  static std::shared_ptr<const Container> open(const std::filesystem::path& path, std::string_view kind,
                                               Access access = Access::held);
  /// The same, streamed, without the digest: what stands behind the head may be damaged, and HDF5 may crash
  /// on it. For a process of its own.
  static std::shared_ptr<const Container> open_unverified(const std::filesystem::path& path,
                                                          std::string_view kind);
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

  /// The HDF5 file; empty when it is streamed.
  std::span<const unsigned char> body() const { return body_; }
  /// Bytes of the HDF5 file.
  Index size() const { return size_; }
  /// The open file, block and all, when it is streamed; else none.
  int descriptor() const { return file_.number(); }
  /// As messages name it.
  const std::string& name() const { return name_; }
  /// SHA-256 of the body, in hex; empty for one that was not read from a file.
  const std::string& digest() const { return digest_; }

 private:
  Container() = default;
  void load(const std::filesystem::path& path, Access access);
  std::string check_head(std::string_view kind);
  void check_digest(const std::string& expected);

  std::string name_, digest_;
  std::string bytes_;       // a small file
  void* mapped_ = nullptr;  // a large one
  std::size_t mapped_size_ = 0;
  Descriptor file_;                      // a streamed one
  std::span<const unsigned char> body_;  // at first the whole file, once verified what follows the block
  Index size_ = 0;                       // the same
};

}  // namespace tapeline

#pragma once

#include <filesystem>

#include "core/descriptor.h"

namespace tapeline {

/// Keeps a folder for one process at a time; the system lets go of it however the process ends. On a disk
/// that knows no locks nobody is kept out.
class FolderLock {
 public:
  /// `what`: who asks, for the message ("compare"). Throws FileError when another process holds the folder,
  /// or when there is none.
  FolderLock(const std::filesystem::path& folder, const char* what);

 private:
  Descriptor descriptor_;
};

}  // namespace tapeline

#pragma once

// For the files of the HDF5 wrapper only: no other includes this one or names HDF5.

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "data/hdf5_types.h"

namespace tapeline::hdf5 {

/// Before anything: HDF5's own error printing off, external links unregistered, plugins off.
void start_library();

/// The innermost reason on HDF5's error stack, in its own words; clears the stack.
std::string take_reason();

/// Throws FileError: "what: reason".
[[noreturn]] void fail(std::string_view what);

/// A name that no file has and no other open file of this process: HDF5 takes two core files of one name for
/// the same file.
std::string unique_name();

/// One identifier of the HDF5 library, closed at the end of its scope.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  /// Takes the identifier; fails with `what` if it is not one.
  Handle(hid_t id, Close close, std::string_view what) : id_(id), close_(close) {
    if (id < 0) fail(what);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { reset(); }
  /// Closes now; whether that went well.
  bool reset() noexcept {
    const hid_t id = std::exchange(id_, -1);
    return id < 0 || close_(id) >= 0;
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

inline void check(herr_t status, std::string_view what) {
  if (status < 0) fail(what);
}

/// How a number lies in the file (little-endian) and in memory.
hid_t file_type(NumberType type);
hid_t memory_type(NumberType type);
/// UTF-8 of variable length, as h5py writes `str`.
Handle text_type();
/// FALSE = 0, TRUE = 1 in one byte, as h5py writes `bool`.
Handle flag_type();

}  // namespace tapeline::hdf5

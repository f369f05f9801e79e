#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/hdf5_types.h"

namespace tapeline {

/// Builds an HDF5 file in memory: HDF5 itself never writes to a disk. Equal calls give equal bytes: no times,
/// no names of machines. Paths are those of HDF5, "/model/blocks/0/weight"; the groups on the way are made as
/// needed, and listings show the order of writing. Every failure is a FileError of one line; the writer is
/// then good for nothing but its destructor. One thread at a time, all writers and readers together: the
/// HDF5 library of Debian is not thread-safe.
class Hdf5Writer {
 public:
  Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;
  ~Hdf5Writer();

  /// Makes a group unless it is there.
  void group(std::string_view path);
  /// A dataset of numbers; `extents` empty: a scalar. Extents may be 0.
  template <class T>
  void numbers(std::string_view path, std::span<const T> values, const std::vector<Index>& extents) {
    write(path, number_type_of<T>(), values.data(), static_cast<Index>(values.size()), extents);
  }
  template <class T>
  void numbers(std::string_view path, const std::vector<T>& values) {
    numbers(path, std::span<const T>(values), {static_cast<Index>(values.size())});
  }
  template <class T>
  void number(std::string_view path, T value) {
    numbers(path, std::span<const T>(&value, 1), {});
  }
  /// The same from the numbers' bytes, as they lie in memory.
  void packed_numbers(std::string_view path, NumberType type, std::span<const unsigned char> bytes,
                      const std::vector<Index>& extents) {
    write(path, type, bytes.data(), static_cast<Index>(bytes.size()) / number_type_size(type), extents);
  }
  /// A scalar dataset of one string of any length. HDF5 ends strings at a zero byte: one inside is refused.
  void text(std::string_view path, std::string_view value);
  /// A dataset of strings.
  void texts(std::string_view path, const std::vector<std::string>& values);
  /// An attribute of a group or dataset that exists ("/" is the root).
  void attribute(std::string_view path, const std::string& name, const AttributeValue& value);

  /// The finished file. Last call.
  std::string finish();

 private:
  void write(std::string_view path, NumberType type, const void* values, Index count,
             const std::vector<Index>& extents);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tapeline

#pragma once

// For the files of the HDF5 wrapper only.

#include <memory>
#include <string>
#include <string_view>

#include "data/container.h"
#include "data/hdf5_library.h"
#include "data/hdf5_reader.h"

namespace tapeline {

namespace hdf5 {
/// Verified bytes, lent to HDF5 as the image of a file; none for a container that is streamed.
struct Loan {
  void* data = nullptr;
  std::size_t size = 0;
};
}  // namespace hdf5

struct Hdf5Reader::State {
  std::shared_ptr<const Container> container;
  hdf5::Loan loan;
  hdf5::Handle file;

  explicit State(std::shared_ptr<const Container> bytes);
  void open_loan(const std::string& what);
  void open_stream(const std::string& what);
  /// How messages begin.
  std::string what(std::string_view path) const;
  bool exists(std::string_view path) const;
  /// A group or dataset; fails if there is none of that name.
  hdf5::Handle object(std::string_view path) const;
  /// A dataset in one plain piece; fails for anything else.
  hdf5::Handle dataset(std::string_view path) const;
};

}  // namespace tapeline

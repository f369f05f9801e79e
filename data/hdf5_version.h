#pragma once

#include <string>

namespace tapeline {

/// The HDF5 library that is loaded, and the one whose headers this program was built with: "1.10.8". HDF5
/// ends a program in which the two differ.
struct Hdf5Version {
  std::string loaded, built;
};
Hdf5Version hdf5_version();

}  // namespace tapeline

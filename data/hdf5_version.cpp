#include "data/hdf5_version.h"

#include <fmt/format.h>
#include <hdf5.h>

namespace tapeline {

Hdf5Version hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  // Without H5open: that ends the program where the versions differ.
  (H5get_libversion)(&major, &minor, &release);
  return {fmt::format("{}.{}.{}", major, minor, release),
          fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE)};
}

}  // namespace tapeline

# Finds every package the project needs and makes one imported target of each. A missing one ends the configure with
# one line that names the Debian package.

macro(tapeline_missing what package)
  message(FATAL_ERROR "tapeline: ${what} was not found; on Debian: apt-get install --no-install-recommends ${package}")
endmacro()

macro(tapeline_package name package)
  find_package(${name} QUIET ${ARGN})
  if(NOT ${name}_FOUND)
    tapeline_missing(${name} ${package})
  endif()
endmacro()

# A library known by its file, as a target of its own. The installed package names the same files.
function(tapeline_vendor_library target file include)
  add_library(tapeline_vendor::${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(tapeline_vendor::${target} PROPERTIES
    IMPORTED_LOCATION "${file}" INTERFACE_INCLUDE_DIRECTORIES "${include}")
endfunction()

# The same, looked for by one header and one file.
function(tapeline_header_and_library target header library package)
  cmake_parse_arguments(PARSE_ARGV 4 option "" "" "HEADER_PATHS;LIBRARY_PATHS")
  set(only_there "")
  if(option_LIBRARY_PATHS)
    set(only_there NO_DEFAULT_PATH)
  endif()
  find_path(${target}_INCLUDE ${header} PATHS ${option_HEADER_PATHS} ${only_there})
  find_library(${target}_LIBRARY ${library} PATHS ${option_LIBRARY_PATHS} ${only_there})
  mark_as_advanced(${target}_INCLUDE ${target}_LIBRARY)
  if(NOT ${target}_INCLUDE OR NOT ${target}_LIBRARY)
    tapeline_missing("${library} (${header})" ${package})
  endif()
  tapeline_vendor_library(${target} "${${target}_LIBRARY}" "${${target}_INCLUDE}")
endfunction()

tapeline_package(Threads libc6-dev)
tapeline_package(fmt libfmt-dev)
tapeline_package(spdlog libspdlog-dev)
tapeline_package(CLI11 libcli11-dev)
tapeline_package(tomlplusplus libtomlplusplus-dev)
tapeline_package(nlohmann_json nlohmann-json3-dev)
tapeline_package(HWY libhwy-dev)
tapeline_package(HDF5 libhdf5-dev COMPONENTS C)
tapeline_package(OpenSSL libssl-dev COMPONENTS Crypto)
if(TAPELINE_TESTS)
  tapeline_package(doctest doctest-dev)
endif()
if(NOT TAPELINE_STD_THREADS)
  tapeline_package(OpenMP libgomp1 COMPONENTS CXX)
endif()

get_target_property(hdf5_LIBRARY hdf5::hdf5 IMPORTED_LOCATION)
tapeline_vendor_library(hdf5 "${hdf5_LIBRARY}" "${HDF5_C_INCLUDE_DIRS}")

# oneDNN's own package file demands OpenCL's development files, which this project does not need.
tapeline_header_and_library(onednn oneapi/dnnl/dnnl.h dnnl libdnnl-dev)

# The OpenMP flavour of OpenBLAS, whatever the system's alternative says: a second thread pool beside oneDNN's
# slows training several times.
set(openblas_directory "${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp")
tapeline_header_and_library(openblas cblas.h openblas libopenblas-openmp-dev
  HEADER_PATHS "/usr/include/${openblas_directory}" LIBRARY_PATHS "/usr/lib/${openblas_directory}")
set(TAPELINE_OPENBLAS_DIRECTORY "/usr/lib/${openblas_directory}")

find_path(RANDOM123_INCLUDE Random123/philox.h)
mark_as_advanced(RANDOM123_INCLUDE)
if(NOT RANDOM123_INCLUDE)
  tapeline_missing("Random123" librandom123-dev)
endif()
add_library(tapeline_vendor::random123 INTERFACE IMPORTED GLOBAL)
target_include_directories(tapeline_vendor::random123 SYSTEM INTERFACE "${RANDOM123_INCLUDE}")

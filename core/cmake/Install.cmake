# The package for other projects: find_package(tapeline). Its libraries are listed where they are made
# (tapeline_library(… COMPONENT …)); here are the public headers, which stand below include/tapeline as they do in the
# source ("core/tape.h"), and the files that find_package reads.
include(CMakePackageConfigHelpers)

set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/tapeline")
set(header_directory "${CMAKE_INSTALL_INCLUDEDIR}/tapeline")

# What is left out includes headers of libraries that no other header needs, or belongs to the kernels and to what the ops share.
foreach(folder IN ITEMS core layers data train)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" DESTINATION "${header_directory}" FILES_MATCHING PATTERN "*.h"
    PATTERN kernels EXCLUDE
    PATTERN ops EXCLUDE
    PATTERN cmake EXCLUDE
    PATTERN parallel_backend.h EXCLUDE
    PATTERN allocation_counter.h EXCLUDE
    PATTERN hdf5_library.h EXCLUDE
    PATTERN hdf5_reader_state.h EXCLUDE
    PATTERN config_reader.h EXCLUDE
    PATTERN config_value.h EXCLUDE
    PATTERN stored_kinds.h EXCLUDE)
  install(EXPORT tapeline_${folder} NAMESPACE tapeline:: DESTINATION "${package_directory}"
    FILE tapeline_${folder}.cmake)
endforeach()

get_property(chosen_kinds GLOBAL PROPERTY tapeline_chosen_kinds)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/tapelineConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/tapelineConfig.cmake" INSTALL_DESTINATION "${package_directory}"
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tapelineConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tapelineConfig.cmake" "${PROJECT_BINARY_DIR}/tapelineConfigVersion.cmake"
  DESTINATION "${package_directory}")

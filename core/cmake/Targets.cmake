# Settings that every library and program of the project shares, and the function that makes one library of one source
# list in both precisions.

add_library(tapeline_settings INTERFACE)
target_compile_features(tapeline_settings INTERFACE cxx_std_20)
target_include_directories(tapeline_settings INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tapeline>)
target_compile_options(tapeline_settings INTERFACE $<BUILD_INTERFACE:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor>)
install(TARGETS tapeline_settings EXPORT tapeline_core)
set_target_properties(tapeline_settings PROPERTIES EXPORT_NAME settings)
if(TAPELINE_SANITIZE)
  # g++ 12 takes std::regex for uninitialised when a sanitizer looks on (GCC bug 105562).
  target_compile_options(tapeline_settings INTERFACE -fsanitize=${TAPELINE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -Wno-maybe-uninitialized)
  target_link_options(tapeline_settings INTERFACE -fsanitize=${TAPELINE_SANITIZE})
endif()
if(TAPELINE_STD_THREADS)
  target_compile_definitions(tapeline_settings INTERFACE TAPELINE_STD_THREADS)
endif()

# tapeline_library(NAME [F64] [COMPONENT NAME AS NAME] SOURCES... LINK PUBLIC_TARGETS... PRIVATE_LINK TARGETS...)
# With COMPONENT it is part of that component of the installed package, where its name is tapeline::AS.
function(tapeline_library name)
  cmake_parse_arguments(PARSE_ARGV 1 library "F64" "COMPONENT;AS" "SOURCES;LINK;PRIVATE_LINK")
  add_library(${name} STATIC ${library_SOURCES})
  target_link_libraries(${name} PUBLIC tapeline_settings ${library_LINK} PRIVATE ${library_PRIVATE_LINK})
  if(library_F64)
    target_compile_definitions(${name} PUBLIC TAPELINE_F64)
  endif()
  if(library_COMPONENT)
    add_library(tapeline::${library_AS} ALIAS ${name})
    set_target_properties(${name} PROPERTIES EXPORT_NAME ${library_AS})
    install(TARGETS ${name} EXPORT tapeline_${library_COMPONENT} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endfunction()

# For sources whose headers take longer to compile than they do: five at a time. Each compiles alone too (preset debug).
function(tapeline_unity_build target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TAPELINE_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 5)
endfunction()

# Sources that only call what is fast, and whose headers are long: compiled for a short build.
add_library(tapeline_quick_build INTERFACE)
target_compile_options(tapeline_quick_build INTERFACE $<$<NOT:$<CONFIG:Debug>>:-O1>)

# Tests: most of their time is the compiler's.
add_library(tapeline_test_build INTERFACE)
target_compile_options(tapeline_test_build INTERFACE $<$<NOT:$<CONFIG:Debug>>:-O0>)

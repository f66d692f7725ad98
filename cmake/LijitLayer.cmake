# SPDX-License-Identifier: Apache-2.0
# A layer is one row of the folder table in docs/architecture.md: an object library that all tests
# may link alone, and that the library lijit is put together from.
set_property(GLOBAL PROPERTY LIJIT_LAYERS "")

add_library(lijit_build_settings INTERFACE)
target_compile_features(lijit_build_settings INTERFACE cxx_std_20)
target_compile_options(lijit_build_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror -ffp-contract=off
  # GCC 12 reports overlapping copies inside of std::string (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# A shared lijit exports all of its symbols: its tests reach into every layer.
if(NOT BUILD_SHARED_LIBS)
  target_compile_options(lijit_build_settings INTERFACE -fvisibility=hidden)
endif()
if(LIJIT_SANITIZE)
  target_compile_options(lijit_build_settings INTERFACE
    -fsanitize=${LIJIT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # With sanitizers GCC warns about its own headers (<regex>).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(lijit_build_settings INTERFACE -fsanitize=${LIJIT_SANITIZE})
endif()
if(LIJIT_BUILD_FUZZERS)
  target_compile_options(lijit_build_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# lijit_layer(name SOURCES ... [LINK ...]): the object library lijit_<name>.
function(lijit_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(lijit_${name} OBJECT ${arg_SOURCES})
  set_target_properties(lijit_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON
                        CXX_EXTENSIONS OFF)
  target_include_directories(lijit_${name} PUBLIC
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(lijit_${name}
    PRIVATE lijit_build_settings PUBLIC fmt::fmt Threads::Threads ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY LIJIT_LAYERS lijit_${name})
endfunction()

# lijit_test(name SOURCES ... LAYERS ... [LABELS ...] [LINK ...] [NO_MAIN]): a GoogleTest program of
# the given layers; LAYERS all means the whole library.
function(lijit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_MAIN" "TIMEOUT" "SOURCES;LAYERS;LABELS;LINK")
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${name} PRIVATE LIJIT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE lijit_build_settings GTest::gtest ${arg_LINK})
  if(NOT arg_NO_MAIN)
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
  endif()
  if(arg_LAYERS STREQUAL "all")
    target_link_libraries(${name} PRIVATE lijit::lijit fmt::fmt)
  else()
    foreach(layer IN LISTS arg_LAYERS)
      target_link_libraries(${name} PRIVATE lijit_${layer})
    endforeach()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
                       SKIP_RETURN_CODE 77)
endfunction()

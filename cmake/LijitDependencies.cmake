# SPDX-License-Identifier: Apache-2.0
# Everything comes from the system's packages (apt: libfmt-dev libxxhash-dev libzstd-dev libssl-dev
# libcli11-dev nlohmann-json3-dev libgtest-dev libbenchmark-dev).
find_package(fmt 9 REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(crypto REQUIRED IMPORTED_TARGET libcrypto)
if(LIJIT_BUILD_TOOLS)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json 3 REQUIRED)
endif()
if(LIJIT_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(nlohmann_json 3 REQUIRED)
endif()
if(LIJIT_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
# Only headers of CUDA are used, and only by runtime/ and by tests that compare with its host
# functions; libraries are opened at run time. Absent headers mean: no CUDA device, no NVRTC oracle.
find_path(LIJIT_CUDA_INCLUDE_DIR cuda.h
          HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES include targets/x86_64-linux/include)

# LLVM makes PTX for the backend ptx. Only compiler/codegen/ptx sees it.
set(LIJIT_WITH_LLVM AUTO CACHE STRING "Build the backend ptx: ON, OFF, or AUTO: if LLVM 22 is found")
set(LIJIT_HAS_LLVM OFF)
if(LIJIT_WITH_LLVM)
  find_package(LLVM 22.1 CONFIG QUIET)
  if(LLVM_FOUND AND "NVPTX" IN_LIST LLVM_TARGETS_TO_BUILD)
    set(LIJIT_HAS_LLVM ON)
    message(STATUS "Backend ptx: LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
  elseif(NOT LIJIT_WITH_LLVM STREQUAL "AUTO")
    message(FATAL_ERROR "LIJIT_WITH_LLVM is ${LIJIT_WITH_LLVM}, and no LLVM 22 with NVPTX was found "
                        "(apt: llvm-22-dev); set LLVM_DIR, or LIJIT_WITH_LLVM=OFF")
  else()
    message(STATUS "Backend ptx: not built, since no LLVM 22 was found (apt: llvm-22-dev)")
  endif()
endif()

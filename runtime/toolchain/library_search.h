// SPDX-License-Identifier: Apache-2.0
// Where CUDA's compiler libraries may be: toolkits, Python wheels, the loader's path.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/toolchain/shared_library.h"

namespace lijit::runtime {

// What the caller knows. Everything may be empty.
struct SearchPaths {
  std::string file;                          // this file and no other
  std::vector<std::string> directories;      // folders to look into first
  std::vector<std::string> python_prefixes;  // Python's sys.prefix, to find wheels under it
};

// What is particular to one library.
struct LibraryKind {
  const char* what;                            // "NVRTC"
  const char* stem;                            // "libnvrtc"
  const char* variable;                        // the environment variable that names its file
  std::span<const char* const> wheel_folders;  // below site-packages
  const char* advice;
};

// Major versions of the CUDA toolkit whose libraries have the interface used here, newest first.
std::vector<std::string> LibraryNames(const LibraryKind& kind);

// In order: `paths.file` or the environment's file, and then nothing else; else the caller's
// directories, CUDA_HOME, wheels below the Python prefixes, the loader's path, /usr/local/cuda and
// /usr/local/cuda-X.Y with the newest first.
std::vector<LibraryPlace> LibraryPlaces(const LibraryKind& kind, const SearchPaths& paths,
                                        const std::string& environment_file,
                                        const std::string& cuda_home,
                                        const std::string& toolkits = "/usr/local");

}  // namespace lijit::runtime

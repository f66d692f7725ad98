// SPDX-License-Identifier: Apache-2.0
// Opening a library at run time: where it was looked for, and why each place did not do.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit::runtime {

// One place to look: a file, or a folder that may hold one of the names, or (both empty) the
// loader's own search path.
struct LibraryPlace {
  std::string origin;  // who named it: "LIJIT_NVRTC", "CUDA_HOME", "the loader's path"
  std::string folder;
  std::string file;
};

struct LibrarySymbol {
  const char* name;
  bool required = true;
};

struct LibraryRequest {
  std::string_view what;                 // "NVRTC", for messages
  std::span<const std::string> names;    // "libnvrtc.so.13", best first
  std::span<const LibraryPlace> places;  // first that works wins
  std::span<const LibrarySymbol> symbols;
  std::string_view advice;  // what to do when it is nowhere; a sentence
};

struct OpenedLibrary {
  std::string path;            // of the file that was loaded
  std::vector<void*> symbols;  // in the order asked for; null where an optional one is missing
};

// Loads the first library that has every required symbol. It is never unloaded: its threads and
// exit handlers may outlive every caller. Unavailable lists each place with its reason.
Result<OpenedLibrary> OpenLibrary(const LibraryRequest& request);

}  // namespace lijit::runtime

// SPDX-License-Identifier: Apache-2.0
// Everything that a kernel's compilation depends on, and the compilation.
#pragma once

#include <string>

#include "cache/key.h"
#include "lijit/cache.h"
#include "lijit/result.h"

namespace lijit::runtime {

// The key is made of all members and of the generator's version; CompileKernel sees nothing else.
struct KernelRequest {
  std::string module;       // canonical text of one kernel with its formats and layouts
  std::string target_name;  // "sm_90a"
  std::string schedule;     // "simt"
  std::string backend;      // "cuda" or "ptx"
  std::string image;        // "cubin" or "ptx"
  std::string compiler;     // CompilerVersion of the backend: "nvrtc 13.0.88 ..."

  cache::Key key() const;
  std::string target() const { return target_name; }
  ImageKind image_kind() const { return image == "ptx" ? ImageKind::kPtx : ImageKind::kCubin; }
};

// What a launch needs to know of an entry; it stands at the head of cache::Entry::resources.
struct LaunchInfo {
  int threads = 0;
  int tile_rows = 0;
  int tile_columns = 0;
  int dynamic_shared_bytes = 0;

  std::string ToText() const;  // "threads 128 tile 1 128 shared 0\n"
  static Result<LaunchInfo> FromText(std::string_view text);
};

// Parses, lowers, prints and compiles.
Result<cache::Entry> CompileKernel(const KernelRequest& request);

// The generated source alone: CUDA C++, or LLVM IR of the backend ptx.
Result<std::string> GenerateSource(const KernelRequest& request);

// Whether an entry's image is whole, for its target, and has its kernels: before any device sees
// it.
Status ValidateEntry(const cache::Entry& entry);

}  // namespace lijit::runtime

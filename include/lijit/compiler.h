// SPDX-License-Identifier: Apache-2.0
// The compiler without a device: .lir text to .lir text, to CUDA C++ or PTX, and into the cache.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/cache.h"
#include "lijit/indexer.h"
#include "lijit/result.h"

namespace lijit {

struct PassInfo {
  std::string_view name;
  std::string_view doc;
};
// The passes in the order in which they run.
std::vector<PassInfo> Passes();

// Values for the text's `param` declarations, as they would be written.
struct ParameterValue {
  std::string name;
  std::string value;
};

struct OptimizeRequest {
  std::string text;
  std::string name;                 // of the file, in messages
  std::string target = "sm_86";     // what passes lower for
  std::vector<std::string> passes;  // names, in order; none: parse, verify and print
  bool all_passes = false;          // all of them, in their order
  std::vector<ParameterValue> parameters;
};
// Parses, verifies, runs the passes and prints. The shipped formats may be used without being
// declared: they are prepended if the text names one that it does not declare.
Result<std::string> Optimize(const OptimizeRequest& request);

// The names of the formats that .lir text declares, in order; `name` is the file's, in messages.
Result<std::vector<std::string>> DeclaredFormats(const std::string& text, const std::string& name);

struct EmitRequest {
  std::string kernel;  // "logits_paged": a shipped kernel, or one of the text
  std::string text;    // .lir text, or empty for the shipped kernels
  std::string name;    // of the file, in messages
  std::string target = "sm_86";
  std::string backend = "auto";
  std::string output = "cuda";             // sources "cuda" (C++) and "llvm"; "ptx"; "cubin"
  IndexerConfig config;                    // values of the shipped kernels' parameters
  std::vector<ParameterValue> parameters;  // and of the text's
};
// One kernel's generated code. InvalidArgument lists the kernels there are.
Result<std::string> Emit(const EmitRequest& request);

// Models whose kernels are known: what `lijit warm` compiles.
struct ModelInfo {
  std::string_view name;  // "deepseek-v3.2"
  int heads, head_dim, page, top_k, ratio;
  Rotation rotation;
};
std::span<const ModelInfo> Models();

struct WarmRequest {
  std::vector<std::string> targets;           // "sm_86", ...
  std::vector<std::string> models = {"all"};  // or names of Models()
  std::vector<std::string> formats = {"fp8_e4m3", "mxfp4"};
  std::string backend = "auto";
  ImageKind kind = ImageKind::kCubin;
  int jobs = 0;  // threads; 0: one a core
  // Called after each kernel, by one thread at a time.
  std::function<void(int done, int total)> progress;
};

struct WarmEntry {
  std::string key;  // 64 hex digits
  std::string kernel;
  std::string target;
  std::string backend;
  bool hit = false;
  double compile_ms = 0;
  std::uint64_t cubin_bytes = 0;
  std::string error;  // why it failed, or ""
};

struct WarmReport {
  int kernels = 0, compiled = 0, hits = 0, failed = 0;
  double seconds = 0;
  std::vector<WarmEntry> entries;
};

// Compiles what serving the models on the targets would, without a GPU. Kernels that several models
// share are compiled once.
Result<WarmReport> Warm(cache::Store& store, const WarmRequest& request);

}  // namespace lijit

// SPDX-License-Identifier: Apache-2.0
// What the score kernels execute for each pair of a query and a key, read from their machine code,
// and what would bound them on GPUs that are not here, by published rates. Needs no GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lijit/indexer.h"
#include "lijit/result.h"

namespace lijit {

struct AnalyzeRequest {
  std::vector<std::string> targets;          // "sm_86"; none: those of the GPUs
  std::vector<std::string> gpus;             // "RTX 3090"; none: all known of the targets' kind
  std::vector<std::string> ops = {"paged"};  // and "ragged"
  std::vector<IndexerConfig> indexers;       // one a format
  int next_n = 1;                            // query rows that decode gives to the same keys
  // Gives a cubin as nvdisasm -c prints it.
  std::function<Result<std::string>(std::span<const std::byte> cubin)> disassemble;
  std::function<void(int done, int total)> progress;
};

// A loop whose instructions were counted.
struct AnalyzedLoop {
  std::uint64_t address = 0;  // of its first instruction in the kernel
  int depth = 0;              // 1: no loop around it
  std::string over;           // "heads", "query rows", "keys"
  int instructions = 0;       // of a warp's iteration, loops within not counted
  double pairs = 0;           // that such an iteration comes to
  double iterations = 0;      // a pair
};

struct AnalyzedPipe {
  std::string name;  // "tensor", "alu"; "instructions" for all
  double lanes = 0;  // a pair: instructions of a single lane, 16-byte loads as four
};

struct PipeClocks {
  std::string pipe;
  double rate = 0;    // lanes a multiprocessor and clock; multiplications for "tensor"
  double clocks = 0;  // of a multiprocessor, a pair
};

struct GpuPrediction {
  std::string gpu;
  double gpairs = 0;         // 1e9 pairs/s at most
  std::string bound;         // by this pipe, or "memory"
  double memory_gpairs = 0;  // by memory alone
  std::vector<PipeClocks> pipes;
  std::optional<double> ratio;  // to the first format of the same target, op and GPU
};

struct AnalyzedKernel {
  std::string target, op, format, schedule, backend;
  std::uint32_t registers = 0;
  std::optional<std::uint32_t> spills;  // instructions; not recorded in old cubins
  std::uint64_t local_bytes = 0;        // a thread: its stack
  std::uint64_t shared_bytes = 0;       // a block, static
  int threads = 0;                      // a block
  int rows = 1;                         // query rows that go over the same keys
  double bytes_a_pair = 0;              // of device memory
  std::vector<AnalyzedLoop> loops;      // the innermost first
  std::vector<AnalyzedPipe> pipes;
  std::vector<std::string> unknown;   // opcodes that no table has
  std::vector<std::string> notes;     // what was left out
  std::vector<std::string> problems;  // why numbers may be wrong
  std::vector<GpuPrediction> predictions;
};

struct AnalyzeReport {
  bool ok = false;  // no kernel has problems
  std::vector<AnalyzedKernel> kernels;
};

// The names that `gpus` takes.
std::vector<std::string> KnownGpus();

// InvalidArgument: a GPU or an op that is not known, no kernel or no GPU. Otherwise what compiling
// and disassembling fail with.
Result<AnalyzeReport> Analyze(const AnalyzeRequest& request);

}  // namespace lijit

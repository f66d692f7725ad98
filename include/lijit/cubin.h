// SPDX-License-Identifier: Apache-2.0
// Reads cubins (the ELF files that hold a GPU's machine code) and fatbins without a driver or a
// CUDA toolkit: what an image was compiled for, where that is recorded, which devices run it, what
// its kernels use, and whether its bytes hang together.
//
// Cubins come in two generations. v7 (CUDA up to 12.9 for sm_90 and older) and v8 (CUDA 12.8 and
// later for sm_100 and newer, CUDA 13 for everything) code e_flags differently; both are read. SM
// numbers and attributes that are not known here are data, never an error.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit::cubin {

// One parameter of a kernel, in bytes from the start of the parameter block.
struct Parameter {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

// One record of .nv.info or .nv.compat. The name of an unknown code is the code in hex ("0x67").
struct Attribute {
  std::string name;
  std::string value;  // 32-bit words in hex; long lists are shortened and say their length
};

// What one kernel (entry function) uses, as `ptxas -v` counts it.
struct Kernel {
  std::string name;                   // the mangled symbol
  std::uint32_t registers = 0;        // a thread
  std::uint64_t shared_bytes = 0;     // static, a block; without what the system reserves
  std::uint64_t local_bytes = 0;      // a thread: the stack with that of called functions
  std::uint64_t constant_bytes = 0;   // bank 0: the driver's area and the parameters
  std::uint32_t param_bytes = 0;      // the parameter block
  std::vector<Parameter> parameters;  // in order
  std::uint64_t max_threads = 1024;   // a block, from launch bounds; 1024 if none
  std::uint32_t barriers = 0;
  std::optional<std::uint32_t> spills;  // instructions that spill or refill; CUDA 11.8 and
                                        // 12.5 record none, 12.9 and later do
  std::uint64_t code_bytes = 0;
  std::vector<Attribute> attributes;
};

// What one tool wrote about itself into .note.nv.tkinfo (v8 only).
struct ToolNote {
  std::string object;
  std::string tool;     // "ptxas", "nvJIT API"
  std::string version;  // "Cuda compilation tools, release 13.0, V13.0.88"
  std::string build;
  std::string command_line;
};

// A place of the file that records the target, or a part of it: {"e_flags 0x06005a04", "sm_90"}.
struct TargetRecord {
  std::string where;
  std::string says;
};

struct Section {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Image {
  std::string generation;           // "v7", "v8"
  bool executable = true;           // false: a relocatable object
  std::uint32_t sm = 0;             // 86, 90, 100
  bool accelerated = false;         // "sm_90a": runs on exactly this compute capability
  bool family = false;              // "sm_100f", as far as a tool note says so
  std::string target;               // "sm_86", "sm_90a", "sm_100f"
  bool target_suffix_known = true;  // false: "sm_100" may also have been "sm_100f"
  std::vector<TargetRecord> target_records;
  bool has_compat = false;                 // .nv.compat is there
  std::optional<std::uint32_t> isa_class;  // of .nv.compat: 1 baseline, 2 family, 4 exact
  std::string toolkit;                     // "12.5", "13.0"; "" if not recorded
  std::vector<ToolNote> tool_notes;
  std::vector<Attribute> compat;
  std::vector<Kernel> kernels;  // in the order of the symbol table
  std::vector<Section> sections;
  std::vector<std::string> problems;  // what is damaged or contradicts itself, a sentence each
};

// The compute capabilities (10 * major + minor) that runs_on lists are made for.
inline constexpr std::array<int, 11> kKnownCapabilities = {80,  86,  87,  88,  89, 90,
                                                           100, 103, 110, 120, 121};

// Reads a cubin. Errors: kInvalidArgument for a file of another kind, kDamaged where not even the
// ELF header is whole. All else that is wrong is in `problems`, beside what could be read.
Result<Image> ReadCubin(std::span<const std::byte> bytes);

// Ok if a device of this compute capability (10 * major + minor) runs the image; otherwise
// kRefused with the reason in words. Decides among shipped images; a cache hit needs the exact
// target instead (Verify).
Status CanRun(const Image& image, int compute_capability);

// The known capabilities that CanRun accepts.
std::vector<int> RunsOn(const Image& image);

// What must hold before a driver sees a cubin: nothing lies outside the file, nothing contradicts
// itself, the file is exactly as long as its headers say, it was made for exactly `target`
// ("sm_90a") and has all `kernels`. Otherwise kDamaged. Changed code bytes are not found here:
// that takes a checksum. Where no tool note tells "sm_100f" from "sm_100", either passes.
Status Verify(std::span<const std::byte> bytes, std::string_view target,
              std::span<const std::string> kernels);

// One image of a fatbin.
struct FatbinEntry {
  std::string kind;                // "cubin", "ptx", "nvvm"; other kinds in hex
  std::string target;              // "sm_90a" for a cubin, "compute_90a" for others
  std::string compression;         // "none", "lz4", "zstd", "unknown"
  std::uint64_t offset = 0;        // of the payload in the file
  std::uint64_t stored_bytes = 0;  // of the payload, without padding
  std::uint64_t bytes = 0;         // once uncompressed
  std::string identifier;          // the source's name, if recorded
};

struct Fatbin {
  std::vector<FatbinEntry> entries;
  std::vector<std::string> problems;
};

// Reads the list of a fatbin's images; several containers one after another are one list. Errors
// as for ReadCubin.
Result<Fatbin> ReadFatbin(std::span<const std::byte> bytes);

struct Dump;

// A part of a file that holds several images.
struct Member {
  FatbinEntry entry;
  std::vector<Dump> dump;  // one for an uncompressed cubin, else none
  std::string ptx;         // the text of uncompressed PTX
};

// Everything that can be said of a file.
struct Dump {
  std::string kind;                   // "cubin", "fatbin"; the tools add "entry" and "bundle"
  std::uint64_t bytes = 0;            // of the file
  std::optional<Image> image;         // of a cubin
  std::vector<std::byte> code;        // the cubin itself, for a disassembler
  std::vector<Member> members;        // of a fatbin
  std::vector<int> runs_on;           // compute capabilities among kKnownCapabilities
  std::vector<std::string> notes;     // worth knowing, not wrong
  std::vector<std::string> problems;  // also those of the members
};

// Describes a cubin or fatbin. A damaged one is described with its problems; kInvalidArgument, with
// the first bytes in the message, for any other file.
Result<Dump> DumpBytes(std::span<const std::byte> bytes);

// The dump as text for a terminal, up to 100 columns where names allow.
std::string Render(const Dump& dump);

}  // namespace lijit::cubin

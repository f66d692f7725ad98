// SPDX-License-Identifier: Apache-2.0
// The lattice of architectures. A target is a row of targets.def; code asks it for a feature
// (feature.h) or a limit and never compares architecture numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lijit/result.h"

namespace lijit::target {

enum class Variant : std::uint8_t { kBase, kFamily, kAccelerated };

// One row of targets.def. Cheap to copy; the strings live as long as the program.
struct Target {
  std::string_view name;              // "sm_90a", what cubins are compiled for
  std::string_view ptx_architecture;  // "compute_90a", what PTX is compiled for
  int capability = 0;                 // 10 * major + minor
  Variant variant = Variant::kBase;
  int family = 0;  // capability of the family's first member; 0 where there are no families
  std::uint32_t max_shared_bytes_per_block = 0;  // with opt-in

  int major() const { return capability / 10; }
  int minor() const { return capability % 10; }
  friend bool operator==(const Target& a, const Target& b) { return a.name == b.name; }
};

// Shared memory that a block gets without opting in, on every target.
inline constexpr std::uint32_t kDefaultSharedBytesPerBlock = 48 * 1024;

// All rows, in the order of targets.def.
std::span<const Target> AllTargets();

// One row of refused_targets.def.
struct RefusedTarget {
  std::string_view name;    // "sm_75"
  std::string_view reason;  // and what would work
};
std::span<const RefusedTarget> RefusedTargets();

// "sm_86" -> its row. kRefused, with the reason, for a row of refused_targets.def;
// kInvalidArgument, with the list of what is known, for any other name.
Result<Target> ParseTarget(std::string_view name);

// What kernels are compiled for on a device of this compute capability: the variant that can use
// most of it and still runs on its successors, so sm_90a for 9.0, sm_100f for 10.0, sm_86 for 8.6.
// Unknown capabilities are refused by name, with the nearest target that PTX could be compiled for.
Result<Target> TargetForCapability(int major, int minor);

// Can a device of this compute capability run PTX that was compiled for `target`?
bool PtxRunsOn(const Target& target, int capability);

}  // namespace lijit::target

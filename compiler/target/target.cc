// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/target.h"

#include <fmt/format.h>

#include <string>

namespace lijit::target {
namespace {

constexpr Target kTargets[] = {
#define LIJIT_TARGET(name, ptx, capability, variant, family, shared_kib) \
  {name, ptx, capability, Variant::variant, family, (shared_kib)*1024},
#include "compiler/target/targets.def"
#undef LIJIT_TARGET
};

constexpr RefusedTarget kRefusedTargets[] = {
#define LIJIT_REFUSED_TARGET(name, reason) {name, reason},
#include "compiler/target/refused_targets.def"
#undef LIJIT_REFUSED_TARGET
};

std::string KnownNames() {
  std::string names;
  for (const Target& row : kTargets) {
    if (!names.empty()) names += ", ";
    names += row.name;
  }
  return names;
}

// 9.0 has no family variant and its tensor cores need the accelerated one; from 10.0 on the family
// variant has all that the kernels use.
bool IsDefault(const Target& row) {
  if (row.family != 0) return row.variant == Variant::kFamily;
  for (const Target& other : kTargets) {
    if (other.capability == row.capability && other.variant == Variant::kAccelerated) {
      return row == other;
    }
  }
  return true;
}

// The last base or family row whose PTX the capability can run, null below the first.
const Target* Nearest(int capability) {
  const Target* nearest = nullptr;
  for (const Target& row : kTargets) {
    if (PtxRunsOn(row, capability)) nearest = &row;
  }
  return nearest;
}

}  // namespace

std::span<const Target> AllTargets() { return kTargets; }

std::span<const RefusedTarget> RefusedTargets() { return kRefusedTargets; }

Result<Target> ParseTarget(std::string_view name) {
  for (const Target& row : kTargets) {
    if (row.name == name) return row;
  }
  for (const RefusedTarget& refused : kRefusedTargets) {
    if (refused.name == name) {
      return Refused(fmt::format("{} is not supported: {}", name, refused.reason));
    }
  }
  return InvalidArgument(fmt::format("unknown target '{}'; known are {}", name, KnownNames()));
}

Result<Target> TargetForCapability(int major, int minor) {
  const bool in_range = major >= 0 && major < 1000 && minor >= 0 && minor < 10;
  const int capability = in_range ? 10 * major + minor : 0;
  for (const Target& row : kTargets) {
    if (row.capability == capability && IsDefault(row)) return row;
  }
  const Target* nearest = in_range ? Nearest(capability) : nullptr;
  const std::string advice =
      nearest == nullptr
          ? fmt::format("the oldest that is supported is {}.{}", kTargets[0].major(),
                        kTargets[0].minor())
          : fmt::format("the nearest target whose PTX it can run is {}; name it to use it",
                        nearest->name);
  return Refused(
      fmt::format("no target is known for compute capability {}.{}: {}", major, minor, advice));
}

bool PtxRunsOn(const Target& target, int capability) {
  switch (target.variant) {
    case Variant::kBase:
      return target.capability <= capability;
    case Variant::kFamily:
      return target.major() == capability / 10 && target.capability <= capability;
    case Variant::kAccelerated:
      return target.capability == capability;
  }
  return false;
}

}  // namespace lijit::target

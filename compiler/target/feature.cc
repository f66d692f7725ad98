// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/feature.h"

#include <array>
#include <iterator>

namespace lijit::target {
namespace {

// A target satisfies a requirement when it satisfies one of its terms; unused terms are 0.
struct Requirement {
  int base = 0;
  int accelerated = 0;
  std::array<int, 3> families{};
};

constexpr Requirement Base(int capability) { return {.base = capability}; }
constexpr Requirement Accelerated(int capability) { return {.accelerated = capability}; }
constexpr Requirement Family(int capability) { return {.families = {capability}}; }

constexpr Requirement operator|(Requirement a, const Requirement& b) {
  if (b.base != 0) a.base = b.base;
  if (b.accelerated != 0) a.accelerated = b.accelerated;
  for (int family : b.families) {
    if (family == 0) continue;
    std::size_t i = 0;
    while (a.families.at(i) != 0) ++i;
    a.families.at(i) = family;
  }
  return a;
}

constexpr FeatureInfo kFeatures[] = {
#define LIJIT_FEATURE(id, name, requirement, sentence, citation) \
  {Feature::id, name, sentence, citation},
#include "compiler/target/features.def"
#undef LIJIT_FEATURE
};

constexpr Requirement kRequirements[] = {
#define LIJIT_FEATURE(id, name, requirement, sentence, citation) requirement,
#include "compiler/target/features.def"
#undef LIJIT_FEATURE
};

bool InFamily(const Target& target, int since) {
  return target.variant != Variant::kBase && target.family != 0 && target.major() == since / 10 &&
         target.capability >= since;
}

}  // namespace

bool Has(const Target& target, Feature feature) {
  const Requirement& requirement = kRequirements[static_cast<std::size_t>(feature)];
  if (requirement.base != 0 && target.capability >= requirement.base) return true;
  if (target.variant == Variant::kAccelerated && target.capability == requirement.accelerated) {
    return true;
  }
  for (int since : requirement.families) {
    if (since != 0 && InFamily(target, since)) return true;
  }
  return false;
}

std::span<const FeatureInfo> AllFeatures() { return kFeatures; }

const FeatureInfo& Info(Feature feature) {
  const auto index = static_cast<std::size_t>(feature);
  LIJIT_CHECK(index < std::size(kFeatures));
  return kFeatures[index];
}

std::optional<Feature> FeatureByName(std::string_view name) {
  for (const FeatureInfo& info : kFeatures) {
    if (info.name == name) return info.feature;
  }
  return std::nullopt;
}

}  // namespace lijit::target

// SPDX-License-Identifier: Apache-2.0
// Features of targets: the only question that code outside this folder asks a target.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "compiler/target/target.h"

namespace lijit::target {

enum class Feature {
#define LIJIT_FEATURE(id, name, requirement, sentence, citation) id,
#include "compiler/target/features.def"
#undef LIJIT_FEATURE
};

struct FeatureInfo {
  Feature feature;
  std::string_view name;      // "e4m3_convert"
  std::string_view sentence;  // what it is
  std::string_view citation;  // where in the PTX ISA manual its targets are listed
};

// Has `target` got the feature?
bool Has(const Target& target, Feature feature);

// All features, in the order of features.def and of the enum.
std::span<const FeatureInfo> AllFeatures();

const FeatureInfo& Info(Feature feature);
std::optional<Feature> FeatureByName(std::string_view name);

}  // namespace lijit::target

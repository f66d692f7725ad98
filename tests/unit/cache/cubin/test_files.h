// SPDX-License-Identifier: Apache-2.0
// The files of tests/data/cubin.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lijit/cubin.h"

namespace lijit::cubin {

inline constexpr const char* kCubinFiles[] = {
    "v7_sm_86", "v7_sm_90a", "v8_sm_86", "v8_sm_90a", "v8_sm_100f", "v8_sm_120a", "object_sm_86"};

std::string TestText(const std::string& name);
std::vector<std::byte> TestBytes(const std::string& name);

// Reads "NAME.cubin"; fails the test if it cannot be read.
Image TestImage(const std::string& name);

// Null if the image has no such kernel.
const Kernel* FindKernel(const Image& image, const std::string& name);

}  // namespace lijit::cubin

// SPDX-License-Identifier: Apache-2.0
// Which version of the PTX language a CUDA release reads.
#pragma once

#include <string>
#include <string_view>

#include "lijit/result.h"

namespace lijit::runtime {

// The newest PTX that the backend ptx makes: that of CUDA 13.0.
inline constexpr int kNewestPtxVersion = 90;

// 90 for "13.0.88": the version that the release at the text's start reads, and kNewestPtxVersion
// at most. Unavailable: the release is older than CUDA 12.0 or no release.
Result<int> PtxVersionFor(std::string_view cuda_release);

// "9.0" and back. Damaged: the text is no version.
std::string PtxVersionText(int version);
Result<int> ParsePtxVersion(std::string_view text);

}  // namespace lijit::runtime

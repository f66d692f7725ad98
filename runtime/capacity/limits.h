// SPDX-License-Identifier: Apache-2.0
// What a request may ask for. Far above any engine's, and low enough that most products fit 64
// bits; those that may not are checked one by one (checked.h).
#pragma once

#include <cstdint>

namespace lijit::capacity {

inline constexpr int kMaxLayers = 4096;
inline constexpr int kMaxCaches = 64;
inline constexpr int kMaxRanks = 4096;
inline constexpr std::int64_t kMaxRowBytes = std::int64_t{1} << 24;
inline constexpr std::int64_t kMaxBlockTokens = std::int64_t{1} << 20;
inline constexpr std::int64_t kMaxAlignment = std::int64_t{1} << 30;
inline constexpr std::int64_t kMaxTokens = std::int64_t{1} << 40;
inline constexpr std::int64_t kMaxHeads = std::int64_t{1} << 16;

}  // namespace lijit::capacity

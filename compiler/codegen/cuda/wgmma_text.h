// SPDX-License-Identifier: Apache-2.0
// The instructions of templates/wgmma_logits.cu that name every register of an accumulator. Inside
// of codegen/cuda only.
#pragma once

#include <string>

namespace lijit::codegen {

enum class WgmmaType { kS8, kE4m3 };

// struct Tile, the accumulator of 64 rows of A and `columns` columns of B (a multiple of 8, at most
// 256), with multiply_step(tile, a, b, accumulate) for K = 32 bytes, A in registers, B behind a
// descriptor of two halves, and fence(tile), which keeps its registers from being moved across.
std::string WgmmaText(WgmmaType type, int columns);

}  // namespace lijit::codegen

// SPDX-License-Identifier: Apache-2.0
// The notes of v8 cubins: .note.nv.cuinfo (virtual SM and toolkit) and .note.nv.tkinfo (the tools
// that made the file, each with its command line).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cache/cubin/bytes.h"
#include "cache/cubin/elf.h"
#include "lijit/cubin.h"

namespace lijit::cubin {

struct CudaInfo {
  std::uint16_t virtual_sm = 0;  // 80 for compute_80
  std::uint32_t toolkit = 0;     // 130 for 13.0
};

struct Notes {
  std::optional<CudaInfo> cuda_info;
  std::vector<ToolNote> tools;
};

Notes ReadNotes(const Elf& elf, Problems& problems);

}  // namespace lijit::cubin

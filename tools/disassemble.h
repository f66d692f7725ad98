// SPDX-License-Identifier: Apache-2.0
// Runs NVIDIA's disassembler, which is not part of this project and may be absent.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "lijit/result.h"

namespace lijit::tools {

// The path of nvdisasm: in PATH, in CUDA_HOME/bin, or in /usr/local/cuda/bin. kUnavailable, with
// the places, if it is in none of them.
Result<std::string> FindNvdisasm();

// The SASS of a cubin as nvdisasm prints it. kFailed, with its last words, if it refuses the cubin.
Result<std::string> Disassemble(const std::string& nvdisasm, std::span<const std::byte> cubin);

}  // namespace lijit::tools

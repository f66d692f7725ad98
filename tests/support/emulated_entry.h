// SPDX-License-Identifier: Apache-2.0
// Entries compiled by a backend and run on the emulated device, with the arguments that the
// interpreter takes (entry_interpreter.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/module.h"
#include "compiler/target/target.h"
#include "lijit/device.h"
#include "tests/support/entry_interpreter.h"

namespace lijit::tests {

// The backends that this build and this machine have, of "cuda" (NVRTC) and "ptx" (LLVM).
const std::vector<std::string>& Backends();

// PTX of a lowered module of one entry, made by one of Backends().
Result<std::vector<std::byte>> CompileEntry(const ir::Module& lowered, const target::Target& target,
                                            std::string_view backend);

// Runs the image's kernel of the entry's name with arguments that are copied to the device before
// and back after. A null pointer is the number 0.
Status RunEntry(Device& device, std::span<const std::byte> image, const ir::Kernel& entry,
                std::uint32_t blocks, std::span<const EntryArgument> arguments);

// Both, on a new emulated device of this target.
Status RunEmulated(const ir::Module& lowered, std::string_view target, std::string_view backend,
                   std::uint32_t blocks, std::span<const EntryArgument> arguments);

#define LIJIT_NEED_BACKEND() \
  if (::lijit::tests::Backends().empty()) GTEST_SKIP() << "neither NVRTC nor LLVM is here"

}  // namespace lijit::tests

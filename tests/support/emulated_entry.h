// SPDX-License-Identifier: Apache-2.0
// Entries compiled by NVRTC and run on the emulated device, with the arguments that the interpreter
// takes (entry_interpreter.h).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/module.h"
#include "compiler/target/target.h"
#include "lijit/device.h"
#include "tests/support/entry_interpreter.h"

namespace lijit::tests {

// PTX of a lowered module of one entry. Unavailable: there is no NVRTC.
Result<std::vector<std::byte>> CompileEntry(const ir::Module& lowered,
                                            const target::Target& target);

// Runs the image's kernel of the entry's name with arguments that are copied to the device before
// and back after. A null pointer is the number 0.
Status RunEntry(Device& device, std::span<const std::byte> image, const ir::Kernel& entry,
                std::uint32_t blocks, std::span<const EntryArgument> arguments);

// Both, on a new emulated device of this target.
Status RunEmulated(const ir::Module& lowered, std::string_view target, std::uint32_t blocks,
                   std::span<const EntryArgument> arguments);

// Whether NVRTC is there; the message of its absence.
Status NeedNvrtc();

#define LIJIT_NEED_NVRTC()                                       \
  if (const auto need = ::lijit::tests::NeedNvrtc(); !need.ok()) \
  GTEST_SKIP() << need.error().message

}  // namespace lijit::tests

// SPDX-License-Identifier: Apache-2.0
// Executes entries of kAny and kLow ops on the CPU, from the sentences of ops.def: op by op, each
// for all threads of a block at once. What generated code is compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "compiler/ir/module.h"
#include "lijit/result.h"

namespace lijit::tests {

// What a launch passes for one parameter: a number, or memory that the entry reads and writes.
using EntryArgument = std::variant<std::uint64_t, std::vector<std::byte>*>;

// Runs the blocks one after another. The entry must be sound (verifier.h); an access outside of an
// argument's memory or of shared memory, a barrier or an exchange of lanes that not all threads
// reach and an op that is not lowered are Failed. NaN results of arithmetic are 0x7fffffff.
Status Interpret(const ir::Kernel& entry, std::uint32_t blocks,
                 std::span<const EntryArgument> arguments);

// The value of an op with one result and scalar operands, as bits. Its operands have type `type`.
std::uint64_t InterpretScalar(ir::OpCode code, const ir::Type& type, std::uint64_t a,
                              std::uint64_t b, std::uint64_t c);
// Whether InterpretScalar knows the op.
bool IsScalarOp(ir::OpCode code);

}  // namespace lijit::tests

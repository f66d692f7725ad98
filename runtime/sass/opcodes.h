// SPDX-License-Identifier: Apache-2.0
// What an instruction keeps busy, multiplies and writes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/sass/parse.h"

namespace lijit::sass {

enum class Pipe : std::uint8_t {
#define PIPE(enumerator, name, sentence) enumerator,
#include "runtime/sass/pipes.def"
};
inline constexpr std::array kPipeNames = {
#define PIPE(enumerator, name, sentence) std::string_view(name),
#include "runtime/sass/pipes.def"
};
inline constexpr std::size_t kPipes = kPipeNames.size();
constexpr std::size_t IndexOf(Pipe pipe) { return static_cast<std::size_t>(pipe); }

// nullopt: an opcode that opcodes.def has not.
std::optional<Pipe> PipeOf(const Instruction& instruction);

// Four-byte slots that a lane takes of the pipe: 4 for LDS.128, 1 for nearly all else.
int SlotsOf(const Instruction& instruction, Pipe pipe);

enum class TensorKind : std::uint8_t { kInt8, kFp8, kF16, kOther };

// A product of matrices, as one warp's share: A has `m` rows.
struct TensorOp {
  TensorKind kind = TensorKind::kOther;
  int m = 0, n = 0, k = 0;
  int a_register = -1;  // -1: A comes from shared memory
  int a_registers = 0;
  std::int64_t macs() const { return std::int64_t{1} * m * n * k; }
};
// nullopt for every other instruction, and for shapes that tensor_shapes.def has not.
std::optional<TensorOp> TensorOpOf(const Instruction& instruction);

struct RegisterRange {
  int first = -1;
  int count = 0;
};
// The registers that the instruction writes; none for stores, branches and predicates.
RegisterRange WrittenBy(const Instruction& instruction);

}  // namespace lijit::sass

// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/opcodes.h"

#include <algorithm>
#include <charconv>

namespace lijit::sass {
namespace {

struct OpcodeRow {
  std::string_view name;
  Pipe pipe;
};
constexpr OpcodeRow kOpcodes[] = {
#define OPCODE(name, pipe) {name, Pipe::pipe},
#include "runtime/sass/opcodes.def"
};

struct Shape {
  std::string_view name;
  int m, n, k;
};
constexpr Shape kShapes[] = {
#define TENSOR_SHAPE(name, m, n, k) {name, m, n, k},
#include "runtime/sass/tensor_shapes.def"
};

struct KindRow {
  std::string_view opcode, modifier;
  TensorKind kind;
  int bits, warps;
};
constexpr KindRow kKinds[] = {
#define TENSOR_KIND(opcode, modifier, kind, bits, warps) \
  {opcode, modifier, TensorKind::kind, bits, warps},
#include "runtime/sass/tensor_kinds.def"
};

// Registers a lane of what a modifier widens.
struct WidthRow {
  std::string_view modifier;
  int registers;
};
constexpr WidthRow kWidths[] = {{"128", 4}, {"64", 2},  {"WIDE", 2}, {"U64", 2},
                                {"S64", 2}, {"F64", 2}, {"x4", 4},   {"x2", 2}};

int WidthOf(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode();
  if (opcode == "LDSM" || opcode == "STSM") {
    if (instruction.HasModifier("4")) return 4;
    return instruction.HasModifier("2") ? 2 : 1;
  }
  for (const WidthRow& row : kWidths) {
    if (instruction.HasModifier(row.modifier)) return row.registers;
  }
  const bool is_pair =
      opcode.starts_with('D') || (opcode == "CS2R" && instruction.modifiers.empty());
  return is_pair ? 2 : 1;
}

// "64x128x32".
std::optional<Shape> ParseShape(std::string_view text) {
  Shape shape{text, 0, 0, 0};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int* const part : {&shape.m, &shape.n, &shape.k}) {
    if (part != &shape.m) {
      if (at == end || *at != 'x') return {};
      ++at;
    }
    const auto [next, error] = std::from_chars(at, end, *part);
    if (error != std::errc() || *part < 1 || *part > 1024) return {};
    at = next;
  }
  return at == end ? std::optional(shape) : std::nullopt;
}

std::optional<Shape> ShapeOf(const Instruction& instruction) {
  if (instruction.modifiers.empty()) return {};
  for (const Shape& shape : kShapes) {
    if (shape.name == instruction.modifiers[0]) return shape;
  }
  return ParseShape(instruction.modifiers[0]);
}

bool IsPredicate(std::string_view operand) {
  return operand.size() >= 2 && operand[0] == 'P' && operand != "PR";
}

// These have no destination among registers, whatever they begin with.
constexpr std::string_view kWriteNothing[] = {"FCHK", "R2P", "BAR",       "WARPSYNC", "RET",
                                              "CALL", "BRX", "NANOSLEEP", "R2UR",     "BMOV"};

}  // namespace

std::optional<Pipe> PipeOf(const Instruction& instruction) {
  for (const OpcodeRow& row : kOpcodes) {
    if (row.name == instruction.opcode()) return row.pipe;
  }
  return {};
}

int SlotsOf(const Instruction& instruction, Pipe pipe) {
  return pipe == Pipe::kLsu ? WidthOf(instruction) : 1;
}

std::optional<TensorOp> TensorOpOf(const Instruction& instruction) {
  if (PipeOf(instruction) != Pipe::kTensor) return {};
  const std::optional<Shape> shape = ShapeOf(instruction);
  if (!shape || instruction.operands.size() < 3) return {};
  TensorOp op{TensorKind::kOther, shape->m, shape->n, shape->k, -1, 0};
  for (const KindRow& row : kKinds) {
    if (row.opcode != instruction.opcode() || !instruction.HasModifier(row.modifier)) continue;
    op.kind = row.kind;
    op.m = shape->m / row.warps;
    op.a_register = RegisterOf(instruction.operands[1]);
    op.a_registers = op.m * op.k * row.bits / (32 * 32);
    break;
  }
  return op;
}

RegisterRange WrittenBy(const Instruction& instruction) {
  const std::vector<std::string>& operands = instruction.operands;
  if (operands.empty()) return {};
  const auto nothing =
      std::find(std::begin(kWriteNothing), std::end(kWriteNothing), instruction.opcode());
  if (nothing != std::end(kWriteNothing)) return {};
  const bool second = IsPredicate(operands[0]) && operands.size() > 1;
  const int first = RegisterOf(operands[second ? 1 : 0]);
  if (first < 0) return {};
  if (const std::optional<TensorOp> op = TensorOpOf(instruction)) {
    return {first, op->m * op->n / 32};
  }
  return {first, WidthOf(instruction)};
}

}  // namespace lijit::sass

// SPDX-License-Identifier: Apache-2.0
// PTX text as data: what the parser makes and the decoder reads. Names are views into the text,
// which the module owns.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulator/types.h"

namespace lijit::emulator {

enum class Space : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

// Puts the address of another variable into a variable's initial value: `bytes` bytes of
// (address + addend) >> shift at `offset`.
struct Relocation {
  std::uint64_t offset = 0;
  unsigned bytes = 8;
  unsigned shift = 0;
  std::uint32_t variable = 0;  // index into Module::variables
  std::int64_t addend = 0;
};

struct Variable {
  std::string_view name;
  Space space = Space::kGlobal;
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
  bool is_external = false;  // the dynamic shared memory
  std::uint32_t line = 0;
  std::vector<std::uint8_t> initial;  // may be shorter than `bytes`: the rest is zero
  std::vector<Relocation> relocations;
};

// A symbol is a variable of the module, or a variable or parameter of the function.
struct Symbol {
  bool of_module = false;
  std::uint32_t index = 0;
};

struct Operand {
  enum class Kind : std::uint8_t {
    kRegister,   // value = index into Function::registers
    kSpecial,    // name = "%tid.x"
    kInteger,    // value
    kFloat32,    // value = bits
    kFloat64,    // value = bits
    kSymbol,     // symbol + value
    kAddress,    // elements[0] (register, symbol or integer) + value
    kVector,     // elements, from {a, b}
    kArguments,  // elements, from (a, b)
    kSink,       // _
    kName,       // a label (value = statement after resolving) or a function
    kLabel,
  };
  Kind kind = Kind::kSink;
  bool negated = false;  // !%p
  std::uint64_t value = 0;
  Symbol symbol;
  std::string_view name;
  std::vector<Operand> elements;
};

struct Guard {
  bool present = false;
  bool negated = false;
  std::uint32_t reg = 0;
};

struct Statement {
  std::string_view name;  // with its suffixes
  std::uint32_t line = 0;
  std::uint32_t scope = 0;
  Guard guard;
  // `d|p` gives two operands, the second marked here.
  std::optional<Operand> second_destination;
  std::vector<Operand> operands;
};

struct BranchTable {
  std::string_view name;
  std::vector<Operand> targets;  // kLabel
};

using Dimensions = std::array<std::uint32_t, 3>;

struct Function {
  std::string_view name;
  std::uint32_t line = 0;
  bool is_entry = false;
  bool is_defined = false;
  std::vector<std::uint32_t> results;     // indices into variables
  std::vector<std::uint32_t> parameters;  // indices into variables
  std::vector<Variable> variables;
  std::vector<Type> registers;
  std::vector<std::string_view> register_names;
  std::vector<Statement> statements;
  std::vector<BranchTable> branch_tables;
  std::optional<Dimensions> max_threads;       // .maxntid
  std::optional<Dimensions> required_threads;  // .reqntid
};

struct Module {
  std::unique_ptr<const std::string> text;
  std::string_view version;  // "9.0"
  std::string_view target;   // "sm_90a"
  std::vector<Variable> variables;
  std::vector<Function> functions;

  const Function* FindFunction(std::string_view name) const {
    for (const Function& function : functions) {
      if (function.name == name) return &function;
    }
    return nullptr;
  }
};

}  // namespace lijit::emulator

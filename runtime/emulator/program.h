// SPDX-License-Identifier: Apache-2.0
// A kernel in the form that is executed. Calls are expanded in place, names are gone: an operand is
// the place of a register's 32 lanes, or of a constant that is stored as 32 equal lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulator/modifiers.h"
#include "runtime/emulator/ptx_module.h"
#include "runtime/emulator/rounding.h"

namespace lijit::emulator {

class Warp;
struct Instruction;

inline constexpr unsigned kWarpSize = 32;

// One bit a lane. A predicate register is a Mask.
using Mask = std::uint32_t;
inline constexpr Mask kFullMask = 0xffffffff;

// Executes an instruction for the lanes of a mask.
using Handler = void (*)(Warp& warp, const Instruction& instruction, Mask mask);

// Byte offset of a value's lanes in the warp's registers or in the kernel's constants.
class OperandRef {
 public:
  OperandRef() = default;
  static OperandRef Register(std::uint32_t offset) { return OperandRef(offset); }
  static OperandRef Constant(std::uint32_t offset) { return OperandRef(offset | kConstantBit); }

  std::uint32_t offset() const { return bits_ & kMaxOffset; }
  bool is_constant() const { return (bits_ & kConstantBit) != 0; }
  bool is_negated() const { return (bits_ & kNegatedBit) != 0; }
  bool is_none() const { return bits_ == kNone; }
  OperandRef Negated() const { return OperandRef(bits_ | kNegatedBit); }

  static constexpr std::uint32_t kMaxOffset = 0x3fffffff;

 private:
  static constexpr std::uint32_t kConstantBit = 0x80000000;
  static constexpr std::uint32_t kNegatedBit = 0x40000000;
  static constexpr std::uint32_t kNone = 0xffffffff;

  explicit OperandRef(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = kNone;
};

// What the scheduler does with an instruction.
enum class Action : std::uint8_t {
  kExecute,      // calls the handler
  kBranch,       // to `target`, for the lanes whose guard holds
  kBranchTable,  // to branch_tables[target][operand 0]
  kExit,
  kWarpSync,   // waits for the lanes of the member mask (last operand), then calls the handler
  kBarrier,    // see BarrierForm
  kPhaseWait,  // waits for an mbarrier's phase, see phase_wait.h
  kTrap,
};

enum class BarrierForm : std::uint8_t { kSync, kArrive, kReducePopc, kReduceAnd, kReduceOr };

// How RegisterWatch looks at it.
enum class RegisterUse : std::uint8_t {
  kOrdinary,
  kCopy,     // a move of 32 bits from a register or a constant to a register
  kProduct,  // wgmma.mma_async, which tells the watch itself
};

struct Instruction {
  Handler handler = nullptr;
  std::int64_t immediate = 0;       // address offset and such
  std::uint32_t first_operand = 0;  // into Kernel::operands
  std::uint32_t target = 0;         // of a branch: index into Kernel::code, or a branch table
  OperandRef guard;
  Action action = Action::kExecute;
  Type type = Type::kB32;   // the last type suffix
  Type type2 = Type::kB32;  // the one before it, or equal
  Space space = Space::kGeneric;
  Rounding rounding = Rounding::kNearestEven;
  Modifier operation = Modifier::kNone;  // comparison, atomic operation, permutation...
  Modifier combine = Modifier::kNone;    // and, or, xor of setp
  BarrierForm barrier = BarrierForm::kSync;
  RegisterUse use = RegisterUse::kOrdinary;
  std::uint8_t vector = 1;
  std::uint8_t operand_count = 0;
  std::uint8_t destination_count = 0;  // the first operands
  std::uint8_t register_bits = 0;   // of the value's register, where it may be wider than the type
  std::uint8_t register_bits2 = 0;  // of the source's register
  bool address_is_32 = false;
  bool ftz = false;
  bool saturate = false;
  bool satfinite = false;
  bool relu = false;
  bool propagate_nan = false;
  bool xorsign = false;
  bool absolute = false;
  bool strong = false;          // volatile, relaxed, acquire, release
  bool sets_registers = false;  // setmaxnreg
  bool aligned = false;         // all threads of the warp execute the barrier together
};

// Values that a warp's registers are filled with when it starts.
enum class Special : std::uint8_t {
#define LIJIT_PTX_SPECIAL(id, name, bits, value) id,
#include "runtime/emulator/special_registers.def"
#undef LIJIT_PTX_SPECIAL
};

struct SpecialSlot {
  Special special;
  std::uint32_t offset;
};

// Where an instruction came from, for reports.
struct Source {
  std::uint32_t line = 0;
  std::string_view name;  // with its suffixes; lives in the module's text
};

struct NamedRange {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  std::vector<Source> sources;  // one for each instruction
  std::vector<OperandRef> operands;
  std::vector<std::byte> constants;
  std::vector<SpecialSlot> specials;
  std::vector<std::vector<std::uint32_t>> branch_tables;
  std::uint32_t register_bytes = 0;       // of one warp
  std::uint64_t parameter_bytes = 0;      // of the packed block
  std::uint64_t static_shared_bytes = 0;  // the dynamic part starts here, aligned
  std::uint64_t local_bytes = 0;          // of one thread
  std::vector<NamedRange> shared_variables;
  bool has_wgmma = false;
  std::optional<Dimensions> max_threads;
  std::optional<Dimensions> required_threads;
};

}  // namespace lijit::emulator

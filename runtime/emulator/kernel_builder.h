// SPDX-License-Identifier: Apache-2.0
// Puts a kernel together: places for registers, constants and variables, and the code.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lijit/result.h"
#include "runtime/emulator/program.h"
#include "runtime/emulator/ptx_module.h"

namespace lijit::emulator {

// A function's body at one place where it is expanded.
struct Instance {
  static constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

  const Function* function = nullptr;
  const Instance* caller = nullptr;     // null for the entry
  std::vector<std::uint32_t> slots;     // of its registers, given on their first use
  std::vector<std::uint64_t> places;    // of its variables, in their spaces
  std::vector<std::uint32_t> code_of;   // first instruction of each statement, and the end
  std::vector<std::uint32_t> branches;  // instructions whose target is a statement yet
  std::vector<std::uint32_t> tables;    // branch tables whose targets are statements yet
};

class KernelBuilder {
 public:
  KernelBuilder(const Module& module, std::span<const std::uint64_t> addresses)
      : module_(module), addresses_(addresses) {}

  Result<Kernel> Build(const Function& entry);

  const Module& module() const { return module_; }
  Kernel& kernel() { return kernel_; }

  // Places for values. Widths are in bits; a predicate has 1.
  OperandRef NewRegister(unsigned bits);
  OperandRef RegisterOf(Instance& instance, std::uint32_t index);
  OperandRef Constant(std::uint64_t value, unsigned bits);
  OperandRef SpecialRegister(Special special);
  OperandRef CarryFlag();  // of add.cc and addc, a predicate

  // Where a symbol lies: its space and its address in that space. Parameters of an expanded
  // function lie in local memory.
  struct Place {
    Space space = Space::kGlobal;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  Place PlaceOf(const Instance& instance, Symbol symbol) const;

 private:
  Status AddFunction(Instance& instance);
  Status AddStatement(Instance& instance, const Statement& statement);
  Status AddCall(Instance& instance, const Statement& statement);
  Status Bind(Instance& caller, Instance& callee, const Statement& statement);
  Status BindList(const Instance& caller, Instance& callee, const Operand* list,
                  const std::vector<std::uint32_t>& parameters, const Statement& statement);
  Status AddReturn(Instance& instance, const Statement& statement);
  void Append(Instruction instruction, Source source);
  void ResolveBranches(Instance& instance);
  void PlaceParameters(Instance& entry);
  void PlaceVariables(Instance& instance);
  Status PlaceShared(const Function& entry);
  Status CollectShared(const Function& function, std::vector<const Function*>& seen);
  void PlaceSharedIn(const Operand& operand);
  void PlaceSharedVariable(const Variable& variable);
  std::uint32_t NewSlot(unsigned bits);

  const Module& module_;
  std::span<const std::uint64_t> addresses_;
  Kernel kernel_;
  std::map<std::pair<std::uint64_t, unsigned>, OperandRef> constants_;
  std::map<Special, OperandRef> specials_;
  std::map<const Variable*, std::uint64_t> shared_;
  OperandRef carry_;
  std::uint64_t dynamic_alignment_ = 0;
  std::size_t expansions_ = 0;
};

}  // namespace lijit::emulator

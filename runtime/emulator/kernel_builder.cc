// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/kernel_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/emulator/decode.h"
#include "runtime/emulator/instruction_table.h"
#include "runtime/emulator/token_stream.h"

namespace lijit::emulator {
namespace {

constexpr std::size_t kMaxCallDepth = 32;
constexpr std::size_t kMaxFunctions = 256;       // that a kernel reaches
constexpr std::size_t kMaxExpansions = 1 << 14;  // of calls in a kernel
constexpr std::size_t kMaxInstructions = 1 << 20;
constexpr std::uint32_t kMaxRegisterBytes = 1 << 24;
constexpr std::uint64_t kMaxLocalBytes = std::uint64_t{512} << 10;  // CUDA's limit for one thread
constexpr std::uint64_t kMaxSharedBytes = 1 << 20;                  // far above any target's limit
constexpr std::uint64_t kMaxParameterBytes = 32764;                 // CUDA's limit since 12.1
constexpr std::uint64_t kDynamicAlignment = 16;
constexpr std::uint64_t kFrameAlignment = 16;

// Every value starts at a multiple of this, so that lanes are aligned for vector units.
constexpr std::uint32_t kSlotAlignment = 64;

std::uint64_t AlignUp(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::uint32_t SlotBytes(unsigned bits) {
  const std::uint64_t bytes = bits == 1 ? sizeof(Mask) : std::uint64_t{bits} / 8 * kWarpSize;
  return static_cast<std::uint32_t>(AlignUp(bytes, kSlotAlignment));
}

}  // namespace

std::uint32_t KernelBuilder::NewSlot(unsigned bits) {
  const std::uint32_t offset = kernel_.register_bytes;
  if (offset < kMaxRegisterBytes) kernel_.register_bytes += SlotBytes(bits);
  return offset;
}

OperandRef KernelBuilder::NewRegister(unsigned bits) { return OperandRef::Register(NewSlot(bits)); }

OperandRef KernelBuilder::RegisterOf(Instance& instance, std::uint32_t index) {
  std::uint32_t& slot = instance.slots[index];
  if (slot == Instance::kNoSlot) slot = NewSlot(Bits(instance.function->registers[index]));
  return OperandRef::Register(slot);
}

OperandRef KernelBuilder::Constant(std::uint64_t value, unsigned bits) {
  if (bits < 64) value &= (std::uint64_t{1} << bits) - 1;
  const auto [known, added] = constants_.emplace(std::pair(value, bits), OperandRef{});
  if (!added) return known->second;
  const std::size_t offset = kernel_.constants.size();
  kernel_.constants.resize(offset + SlotBytes(bits));
  const std::size_t bytes = bits / 8;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    // Little-endian hosts only, as the rest of this folder.
    std::memcpy(kernel_.constants.data() + offset + lane * bytes, &value,
                std::min(bytes, sizeof value));
  }
  return known->second = OperandRef::Constant(static_cast<std::uint32_t>(offset));
}

OperandRef KernelBuilder::SpecialRegister(Special special) {
  const auto [known, added] = specials_.emplace(special, OperandRef{});
  if (added) {
    known->second = NewRegister(32);
    kernel_.specials.push_back({special, known->second.offset()});
  }
  return known->second;
}

OperandRef KernelBuilder::CarryFlag() {
  if (carry_.is_none()) carry_ = NewRegister(1);
  return carry_;
}

KernelBuilder::Place KernelBuilder::PlaceOf(const Instance& instance, Symbol symbol) const {
  if (!symbol.of_module) {
    const Variable& variable = instance.function->variables[symbol.index];
    const bool in_frame =
        variable.space == Space::kParam &&
        (instance.caller != nullptr || symbol.index >= instance.function->parameters.size());
    return {in_frame ? Space::kLocal : variable.space, instance.places[symbol.index],
            variable.bytes};
  }
  const Variable& variable = module_.variables[symbol.index];
  if (variable.space == Space::kShared) {
    return {Space::kShared, shared_.at(&variable), variable.bytes};
  }
  return {variable.space, addresses_[symbol.index], variable.bytes};
}

Result<Kernel> KernelBuilder::Build(const Function& entry) {
  kernel_.name = entry.name;
  kernel_.max_threads = entry.max_threads;
  kernel_.required_threads = entry.required_threads;
  LIJIT_TRY(PlaceShared(entry));
  Instance instance;
  instance.function = &entry;
  instance.places.resize(entry.variables.size());
  PlaceParameters(instance);
  LIJIT_TRY(AddFunction(instance));
  if (kernel_.parameter_bytes > kMaxParameterBytes) {
    return ErrorAtLine(entry.line,
                       fmt::format("more than {} bytes of parameters", kMaxParameterBytes));
  }
  kernel_.local_bytes = AlignUp(kernel_.local_bytes, kFrameAlignment);
  return std::move(kernel_);
}

// A parameter block is packed: each parameter at its alignment, in order.
void KernelBuilder::PlaceParameters(Instance& entry) {
  std::uint64_t end = 0;
  for (const std::uint32_t index : entry.function->parameters) {
    const Variable& parameter = entry.function->variables[index];
    end = AlignUp(end, parameter.alignment);
    entry.places[index] = end;
    end += parameter.bytes;
  }
  kernel_.parameter_bytes = end;
}

void KernelBuilder::PlaceVariables(Instance& instance) {
  const Function& function = *instance.function;
  const std::size_t bound = function.parameters.size() + function.results.size();
  for (std::size_t i = 0; i < function.variables.size(); ++i) {
    const Variable& variable = function.variables[i];
    if (variable.space == Space::kShared) {
      instance.places[i] = shared_.at(&variable);
    } else if (variable.space == Space::kLocal || (variable.space == Space::kParam && i >= bound)) {
      kernel_.local_bytes = AlignUp(kernel_.local_bytes, variable.alignment);
      instance.places[i] = kernel_.local_bytes;
      kernel_.local_bytes += variable.bytes;
    }
  }
}

Status KernelBuilder::PlaceShared(const Function& entry) {
  std::vector<const Function*> seen;
  LIJIT_TRY(CollectShared(entry, seen));
  if (kernel_.static_shared_bytes > kMaxSharedBytes) {
    return ErrorAtLine(entry.line, fmt::format("'{}' has {} bytes of static shared memory; no "
                                               "target has that many",
                                               entry.name, kernel_.static_shared_bytes));
  }
  if (dynamic_alignment_ == 0) return {};
  // All .extern arrays start where the static ones end.
  const std::uint64_t start = AlignUp(kernel_.static_shared_bytes, dynamic_alignment_);
  kernel_.static_shared_bytes = start;
  for (auto& [variable, place] : shared_) {
    if (variable->is_external) place = start;
  }
  return {};
}

Status KernelBuilder::CollectShared(const Function& function, std::vector<const Function*>& seen) {
  if (std::find(seen.begin(), seen.end(), &function) != seen.end()) return {};
  if (seen.size() == kMaxFunctions) {
    return ErrorAtLine(function.line, fmt::format("'{}' calls more than {} functions", kernel_.name,
                                                  kMaxFunctions));
  }
  seen.push_back(&function);
  for (const Variable& variable : function.variables) {
    if (variable.space == Space::kShared) PlaceSharedVariable(variable);
  }
  for (const Statement& statement : function.statements) {
    for (const Operand& operand : statement.operands) {
      PlaceSharedIn(operand);
      if (operand.kind != Operand::Kind::kName || statement.name.substr(0, 4) != "call") continue;
      const Function* callee = module_.FindFunction(operand.name);
      if (callee != nullptr) LIJIT_TRY(CollectShared(*callee, seen));
    }
  }
  return {};
}

void KernelBuilder::PlaceSharedIn(const Operand& operand) {
  for (const Operand& element : operand.elements) PlaceSharedIn(element);
  if (operand.kind != Operand::Kind::kSymbol || !operand.symbol.of_module) return;
  const Variable& variable = module_.variables[operand.symbol.index];
  if (variable.space == Space::kShared) PlaceSharedVariable(variable);
}

void KernelBuilder::PlaceSharedVariable(const Variable& variable) {
  if (shared_.count(&variable) != 0) return;
  if (variable.is_external) {
    dynamic_alignment_ = std::max({dynamic_alignment_, variable.alignment, kDynamicAlignment});
    shared_.emplace(&variable, 0);
    return;
  }
  const std::uint64_t place = AlignUp(kernel_.static_shared_bytes, variable.alignment);
  shared_.emplace(&variable, place);
  kernel_.static_shared_bytes = std::min(place + variable.bytes, 2 * kMaxSharedBytes);
  kernel_.shared_variables.push_back({std::string(variable.name), place, variable.bytes});
}

Status KernelBuilder::AddFunction(Instance& instance) {
  const Function& function = *instance.function;
  instance.slots.assign(function.registers.size(), Instance::kNoSlot);
  PlaceVariables(instance);
  for (const Statement& statement : function.statements) {
    instance.code_of.push_back(static_cast<std::uint32_t>(kernel_.code.size()));
    LIJIT_TRY(AddStatement(instance, statement));
    if (kernel_.code.size() > kMaxInstructions || kernel_.register_bytes >= kMaxRegisterBytes ||
        kernel_.local_bytes > kMaxLocalBytes) {
      return ErrorAtLine(
          statement.line,
          fmt::format("'{}' needs more than {} instructions, {} bytes of registers "
                      "for a warp, or {} bytes of local memory for a thread",
                      kernel_.name, kMaxInstructions, kMaxRegisterBytes, kMaxLocalBytes));
    }
  }
  instance.code_of.push_back(static_cast<std::uint32_t>(kernel_.code.size()));
  ResolveBranches(instance);
  if (instance.caller == nullptr) {
    Instruction exit;
    exit.action = Action::kExit;
    Append(exit, {function.line, "exit"});
  }
  return {};
}

void KernelBuilder::Append(Instruction instruction, Source source) {
  kernel_.code.push_back(instruction);
  kernel_.sources.push_back(source);
}

void KernelBuilder::ResolveBranches(Instance& instance) {
  for (const std::uint32_t branch : instance.branches) {
    Instruction& instruction = kernel_.code[branch];
    instruction.target = instance.code_of[instruction.target];
  }
  for (const std::uint32_t table : instance.tables) {
    for (std::uint32_t& target : kernel_.branch_tables[table]) target = instance.code_of[target];
  }
}

Status KernelBuilder::AddStatement(Instance& instance, const Statement& statement) {
  if (statement.name == "call" || statement.name == "call.uni") {
    return AddCall(instance, statement);
  }
  if (instance.caller != nullptr && (statement.name == "ret" || statement.name == "ret.uni")) {
    return AddReturn(instance, statement);
  }
  Result<Instruction> instruction = DecodeInstruction(*this, instance, statement);
  if (!instruction.ok()) {
    return ErrorAtLine(statement.line, fmt::format("{}: {}", statement.name.substr(0, 80),
                                                   instruction.error().message));
  }
  const auto index = static_cast<std::uint32_t>(kernel_.code.size());
  if (instruction->action == Action::kBranch) instance.branches.push_back(index);
  if (instruction->action == Action::kBranchTable) instance.tables.push_back(instruction->target);
  Append(*instruction, {statement.line, statement.name});
  return {};
}

// Inside an expanded function, `ret` goes to its end.
Status KernelBuilder::AddReturn(Instance& instance, const Statement& statement) {
  Instruction jump;
  jump.action = Action::kBranch;
  jump.target = static_cast<std::uint32_t>(instance.function->statements.size());
  if (statement.guard.present) {
    jump.guard = RegisterOf(instance, statement.guard.reg);
    if (statement.guard.negated) jump.guard = jump.guard.Negated();
  }
  instance.branches.push_back(static_cast<std::uint32_t>(kernel_.code.size()));
  Append(jump, {statement.line, statement.name});
  return {};
}

Status KernelBuilder::AddCall(Instance& instance, const Statement& statement) {
  std::string_view name;
  for (const Operand& operand : statement.operands) {
    if (operand.kind == Operand::Kind::kName) name = operand.name;
  }
  const Function* callee = module_.FindFunction(name);
  if (callee == nullptr || !callee->is_defined || callee->is_entry) {
    return ErrorAtLine(
        statement.line,
        fmt::format("call of '{}', which this module does not define", name.substr(0, 64)));
  }
  std::size_t depth = 0;
  for (const Instance* caller = &instance; caller != nullptr; caller = caller->caller) {
    if (caller->function == callee || ++depth == kMaxCallDepth) {
      return ErrorAtLine(statement.line,
                         fmt::format("call of '{}': recursion, or more than {} calls deep, is not "
                                     "supported",
                                     name, kMaxCallDepth));
    }
  }
  if (++expansions_ > kMaxExpansions) {
    return ErrorAtLine(statement.line, fmt::format("'{}' has more than {} calls when they are "
                                                   "expanded",
                                                   kernel_.name, kMaxExpansions));
  }
  std::uint32_t around = 0;
  if (statement.guard.present) {
    Instruction jump;
    jump.action = Action::kBranch;
    jump.guard = RegisterOf(instance, statement.guard.reg);
    if (!statement.guard.negated) jump.guard = jump.guard.Negated();
    around = static_cast<std::uint32_t>(kernel_.code.size());
    Append(jump, {statement.line, statement.name});
  }
  Instance expanded;
  expanded.function = callee;
  expanded.caller = &instance;
  expanded.places.resize(callee->variables.size());
  LIJIT_TRY(Bind(instance, expanded, statement));
  LIJIT_TRY(AddFunction(expanded));
  if (statement.guard.present) {
    kernel_.code[around].target = static_cast<std::uint32_t>(kernel_.code.size());
  }
  return {};
}

Status KernelBuilder::Bind(Instance& caller, Instance& callee, const Statement& statement) {
  const Operand* results = nullptr;
  const Operand* arguments = nullptr;
  bool named = false;
  for (const Operand& operand : statement.operands) {
    if (operand.kind == Operand::Kind::kName && !named) {
      named = true;
    } else if (operand.kind == Operand::Kind::kArguments && !named && results == nullptr) {
      results = &operand;
    } else if (operand.kind == Operand::Kind::kArguments && named && arguments == nullptr) {
      arguments = &operand;
    } else {
      return ErrorAtLine(statement.line, "a call has the form call (results), name, (arguments)");
    }
  }
  LIJIT_TRY(BindList(caller, callee, results, callee.function->results, statement));
  return BindList(caller, callee, arguments, callee.function->parameters, statement);
}

// A parameter of an expanded function is the caller's variable.
Status KernelBuilder::BindList(const Instance& caller, Instance& callee, const Operand* list,
                               const std::vector<std::uint32_t>& parameters,
                               const Statement& statement) {
  const std::size_t count = list == nullptr ? 0 : list->elements.size();
  if (count != parameters.size()) {
    return ErrorAtLine(statement.line,
                       fmt::format("'{}' has {} of these parameters, the call {}",
                                   callee.function->name, parameters.size(), count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Operand& argument = list->elements[i];
    const Variable& parameter = callee.function->variables[parameters[i]];
    if (argument.kind != Operand::Kind::kSymbol) {
      return ErrorAtLine(statement.line, "an argument must be a .param variable");
    }
    const Place place = PlaceOf(caller, argument.symbol);
    if (place.space != Space::kLocal || place.bytes != parameter.bytes) {
      return ErrorAtLine(statement.line,
                         fmt::format("the argument for '{}' must be a .param variable of {} bytes",
                                     parameter.name, parameter.bytes));
    }
    callee.places[parameters[i]] = place.address;
  }
  return {};
}

Result<Kernel> Decode(const Module& module, std::string_view kernel,
                      std::span<const std::uint64_t> addresses) {
  LIJIT_CHECK(addresses.size() == module.variables.size());
  const Function* entry = module.FindFunction(kernel);
  if (entry != nullptr && entry->is_entry && entry->is_defined) {
    return KernelBuilder(module, addresses).Build(*entry);
  }
  std::string known;
  for (const Function& function : module.functions) {
    if (!function.is_entry) continue;
    known += fmt::format("{}'{}'", known.empty() ? "" : ", ", function.name);
  }
  return InvalidArgument(
      fmt::format("the PTX has no kernel '{}'; it has {}", kernel, known.empty() ? "none" : known));
}

}  // namespace lijit::emulator

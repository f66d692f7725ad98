// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/instruction_builder.h"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace lijit::emulator {
namespace {

struct SpecialInfo {
  std::string_view name;
  unsigned bits;
};

constexpr std::array kSpecials = {
#define LIJIT_PTX_SPECIAL(id, name, bits, value) SpecialInfo{name, bits},
#include "runtime/emulator/special_registers.def"
#undef LIJIT_PTX_SPECIAL
};

}  // namespace

InstructionBuilder::InstructionBuilder(KernelBuilder& kernel, Instance& instance,
                                       const Statement& statement, const Modifiers& modifiers)
    : kernel_(kernel), instance_(instance), statement_(statement), modifiers_(modifiers) {
  out_.first_operand = static_cast<std::uint32_t>(kernel.kernel().operands.size());
  if (modifiers.type_count() > 0) {
    out_.type = modifiers.type(modifiers.type_count() - 1);
    out_.type2 = modifiers.type(modifiers.type_count() >= 2 ? modifiers.type_count() - 2 : 0);
  }
  if (statement.guard.present) {
    out_.guard = kernel.RegisterOf(instance, statement.guard.reg);
    if (statement.guard.negated) out_.guard = out_.guard.Negated();
  }
}

void InstructionBuilder::Fail(std::string what) {
  if (status_.ok()) status_ = InvalidArgument(std::move(what));
}

Status InstructionBuilder::Finish() {
  if (status_.ok() && remaining() > 0) {
    Fail(fmt::format("{} operands too many", remaining()));
  }
  return status_;
}

Type InstructionBuilder::TypeAt(unsigned i) {
  if (i < modifiers_.type_count()) return modifiers_.type(i);
  Fail("a type is missing");
  return Type::kB32;
}

const Operand* InstructionBuilder::Peek() const {
  return next_ < statement_.operands.size() ? &statement_.operands[next_] : nullptr;
}

const Operand* InstructionBuilder::Take() {
  const Operand* operand = Peek();
  if (operand == nullptr) {
    Fail("an operand is missing");
  } else {
    ++next_;
  }
  return operand;
}

void InstructionBuilder::Add(OperandRef operand) {
  if (out_.operand_count == UINT8_MAX) return Fail("too many operands");
  kernel_.kernel().operands.push_back(operand);
  ++out_.operand_count;
}

unsigned InstructionBuilder::RegisterBits(const Operand& operand) const {
  return Bits(instance_.function->registers[operand.value]);
}

OperandRef InstructionBuilder::RegisterRef(const Operand& operand, unsigned bits,
                                           bool may_be_wider) {
  const unsigned have = RegisterBits(operand);
  const bool fits = have == bits || (may_be_wider && bits > 1 && have > bits);
  if (!fits) {
    Fail(fmt::format("register '{}' has {} bits where {} are wanted",
                     instance_.function->register_names[operand.value], have, bits));
  }
  const OperandRef ref = kernel_.RegisterOf(instance_, static_cast<std::uint32_t>(operand.value));
  return operand.negated ? ref.Negated() : ref;
}

OperandRef InstructionBuilder::DestinationRef(const Operand& operand, unsigned bits,
                                              bool may_be_wider) {
  ++out_.destination_count;
  if (operand.kind == Operand::Kind::kSink) return kernel_.NewRegister(bits);
  if (operand.kind != Operand::Kind::kRegister || operand.negated) {
    Fail("a destination must be a register");
    return {};
  }
  return RegisterRef(operand, bits, may_be_wider);
}

OperandRef InstructionBuilder::NumberRef(const Operand& operand, Type type) {
  const unsigned bits = Bits(type);
  const bool is_float = type == Type::kF32 || type == Type::kF64;
  if (operand.kind == Operand::Kind::kInteger) {
    if (is_float) Fail("an integer where a float is wanted");
    if (bits == 1) return kernel_.Constant(operand.value != 0 ? kFullMask : 0, 32);
    return kernel_.Constant(operand.value, bits);
  }
  const bool is_f32 = operand.kind == Operand::Kind::kFloat32;
  if (bits == (is_f32 ? 32u : 64u)) return kernel_.Constant(operand.value, bits);
  if (type == Type::kF32) {
    const auto value = static_cast<float>(std::bit_cast<double>(operand.value));
    return kernel_.Constant(std::bit_cast<std::uint32_t>(value), 32);
  }
  if (type == Type::kF64) {
    const double value = std::bit_cast<float>(static_cast<std::uint32_t>(operand.value));
    return kernel_.Constant(std::bit_cast<std::uint64_t>(value), 64);
  }
  Fail(fmt::format("a float where .{} is wanted", Info(type).suffix));
  return {};
}

OperandRef InstructionBuilder::SymbolRef(const Operand& operand, unsigned bits) {
  const KernelBuilder::Place place = kernel_.PlaceOf(instance_, operand.symbol);
  const std::uint64_t address = place.address + operand.value;
  if (bits != 64 && (bits != 32 || place.space == Space::kGlobal || place.space == Space::kConst)) {
    Fail(fmt::format("an address does not fit {} bits", bits));
  }
  return kernel_.Constant(address, bits);
}

OperandRef InstructionBuilder::SpecialRef(const Operand& operand, unsigned bits,
                                          bool may_be_wider) {
  for (std::size_t i = 0; i < kSpecials.size(); ++i) {
    if (kSpecials[i].name != operand.name) continue;
    if (kSpecials[i].bits != bits && !(may_be_wider && kSpecials[i].bits > bits)) {
      Fail(fmt::format("special register '{}' has {} bits where {} are wanted", operand.name,
                       kSpecials[i].bits, bits));
    }
    return kernel_.SpecialRegister(static_cast<Special>(i));
  }
  Fail(fmt::format("'{}' is not declared", operand.name.substr(0, 64)));
  return {};
}

OperandRef InstructionBuilder::SourceRef(const Operand& operand, Type type, bool may_be_wider) {
  if (operand.negated && (type != Type::kPred || operand.kind != Operand::Kind::kRegister)) {
    Fail("only a predicate can be negated");
  }
  switch (operand.kind) {
    case Operand::Kind::kRegister:
      return RegisterRef(operand, Bits(type), may_be_wider);
    case Operand::Kind::kSpecial:
      return SpecialRef(operand, Bits(type), may_be_wider);
    case Operand::Kind::kInteger:
    case Operand::Kind::kFloat32:
    case Operand::Kind::kFloat64:
      return NumberRef(operand, type);
    case Operand::Kind::kSymbol:
      return SymbolRef(operand, Bits(type));
    case Operand::Kind::kName:
      Fail(fmt::format("'{}' is not declared", operand.name.substr(0, 64)));
      return {};
    default:
      Fail("a source must be a register, a number or a name");
      return {};
  }
}

void InstructionBuilder::Destination(Type type) {
  if (const Operand* operand = Take()) Add(DestinationRef(*operand, Bits(type), false));
}

void InstructionBuilder::Source(Type type) {
  if (const Operand* operand = Take()) Add(SourceRef(*operand, type, false));
}

void InstructionBuilder::WideDestination(Type type) { Destinations(1, type); }
void InstructionBuilder::WideSource(Type type) { Sources(1, type); }

void InstructionBuilder::SecondDestination(Type type) {
  if (!statement_.second_destination) return Add(kernel_.NewRegister(Bits(type)));
  Add(DestinationRef(*statement_.second_destination, Bits(type), false));
}

void InstructionBuilder::Destinations(unsigned count, Type type) {
  const Operand* operand = Take();
  if (operand == nullptr) return;
  const bool is_vector = operand->kind == Operand::Kind::kVector;
  if (is_vector != (count > 1) || (is_vector && operand->elements.size() != count)) {
    return Fail(fmt::format("{} destinations are wanted", count));
  }
  for (unsigned i = 0; i < count; ++i) {
    const Operand& element = is_vector ? operand->elements[i] : *operand;
    const OperandRef ref = DestinationRef(element, Bits(type), true);
    const unsigned bits =
        element.kind == Operand::Kind::kRegister ? RegisterBits(element) : Bits(type);
    if (i > 0 && bits != out_.register_bits) Fail("registers of one vector differ in width");
    out_.register_bits = static_cast<std::uint8_t>(bits);
    Add(ref);
  }
}

void InstructionBuilder::Sources(unsigned count, Type type) {
  const Operand* operand = Take();
  if (operand == nullptr) return;
  const bool is_vector = operand->kind == Operand::Kind::kVector;
  if (is_vector != (count > 1) || (is_vector && operand->elements.size() != count)) {
    return Fail(fmt::format("{} sources are wanted", count));
  }
  for (unsigned i = 0; i < count; ++i) {
    const Operand& element = is_vector ? operand->elements[i] : *operand;
    const OperandRef ref = SourceRef(element, type, true);
    unsigned bits = Bits(type);
    if (element.kind == Operand::Kind::kRegister) bits = RegisterBits(element);
    if (element.kind == Operand::Kind::kSpecial) bits = 32;
    if (i > 0 && bits != out_.register_bits2) Fail("registers of one vector differ in width");
    out_.register_bits2 = static_cast<std::uint8_t>(bits);
    Add(ref);
  }
}

void InstructionBuilder::Address(Space space) {
  const Operand* operand = Take();
  if (operand == nullptr) return;
  if (operand->kind != Operand::Kind::kAddress) return Fail("an address in [] is wanted");
  const Operand& base = operand->elements.front();
  out_.space = space;
  out_.immediate = static_cast<std::int64_t>(operand->value);
  if (base.kind == Operand::Kind::kRegister) {
    out_.address_is_32 = RegisterBits(base) == 32;
    if (out_.address_is_32 && (space == Space::kGeneric || space == Space::kGlobal)) {
      Fail("an address in this space has 64 bits");
    }
    if (space == Space::kParam && instance_.caller != nullptr) {
      Fail("a parameter of a function can only be accessed by its name");
    }
    return Add(SourceRef(base, out_.address_is_32 ? Type::kB32 : Type::kB64, false));
  }
  if (base.kind == Operand::Kind::kSymbol) {
    const KernelBuilder::Place place = kernel_.PlaceOf(instance_, base.symbol);
    const bool is_frame_parameter = space == Space::kParam && place.space == Space::kLocal;
    if (is_frame_parameter) out_.space = Space::kLocal;
    if (space == Space::kGeneric && place.space == Space::kGlobal) out_.space = Space::kGlobal;
    const bool both_global = (out_.space == Space::kConst || out_.space == Space::kGlobal) &&
                             (place.space == Space::kConst || place.space == Space::kGlobal);
    if (out_.space != place.space && !both_global) Fail("the name is of another space");
    return Add(kernel_.Constant(place.address, 64));
  }
  if (base.kind == Operand::Kind::kInteger) return Add(kernel_.Constant(base.value, 64));
  Fail(fmt::format("'{}' is not declared", base.name.substr(0, 64)));
}

std::uint64_t InstructionBuilder::IntegerOperand() {
  const Operand* operand = Take();
  if (operand == nullptr) return 0;
  if (operand->kind != Operand::Kind::kInteger) Fail("a number is wanted");
  return operand->value;
}

Rounding RoundingOf(Modifier modifier) {
  switch (modifier) {
    case Modifier::kRna:
      return Rounding::kNearestAway;
    case Modifier::kRz:
    case Modifier::kRzi:
      return Rounding::kTowardZero;
    case Modifier::kRm:
    case Modifier::kRmi:
      return Rounding::kDown;
    case Modifier::kRp:
    case Modifier::kRpi:
      return Rounding::kUp;
    default:
      return Rounding::kNearestEven;
  }
}

}  // namespace lijit::emulator

// SPDX-License-Identifier: Apache-2.0
// What the decoders of instructions.def see: one statement, whose operands they take in order. The
// first thing that does not fit is kept as the error; what follows it does nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lijit/result.h"
#include "runtime/emulator/kernel_builder.h"
#include "runtime/emulator/modifiers.h"
#include "runtime/emulator/program.h"

namespace lijit::emulator {

class InstructionBuilder {
 public:
  InstructionBuilder(KernelBuilder& kernel, Instance& instance, const Statement& statement,
                     const Modifiers& modifiers);

  const Modifiers& modifiers() const { return modifiers_; }
  Modifier Of(Category category) const { return modifiers_.Of(category); }
  bool Has(Category category) const { return modifiers_.Has(category); }
  // The i-th type suffix; an error if there is none.
  Type TypeAt(unsigned i);
  Type LastType() { return TypeAt(modifiers_.type_count() - 1); }

  Instruction& out() { return out_; }
  void Execute(Handler handler) { out_.handler = handler; }

  // Each takes the next operand of the statement and adds it to the instruction.
  void Destination(Type type);
  void Source(Type type);
  void PredicateDestination() { Destination(Type::kPred); }
  void PredicateSource() { Source(Type::kPred); }
  // A register that may be wider than the type; its width goes to register_bits (destinations) or
  // register_bits2 (sources).
  void WideDestination(Type type);
  void WideSource(Type type);
  // The `|p` of a destination pair, or a register that nobody reads.
  void SecondDestination(Type type);
  // {a, b, ...} of exactly `count`, or, for count 1, a plain operand.
  void Destinations(unsigned count, Type type);
  void Sources(unsigned count, Type type);
  // [base + offset]: adds the base, sets space, immediate and address_is_32.
  void Address(Space space);

  // Adds an operand that is not in the text.
  void Constant(std::uint64_t value, unsigned bits) { Add(kernel_.Constant(value, bits)); }

  std::size_t remaining() const { return statement_.operands.size() - next_; }
  // The next operand, if there is one.
  const Operand* Peek() const;
  // The value of the next operand, which must be an integer in the text.
  std::uint64_t IntegerOperand();

  void Fail(std::string what);
  Status Finish();
  KernelBuilder& kernel() { return kernel_; }
  const Statement& statement() const { return statement_; }
  Instance& instance() { return instance_; }
  const Operand* Take();
  void Add(OperandRef operand);
  unsigned RegisterBits(const Operand& operand) const;
  OperandRef DestinationRef(const Operand& operand, unsigned bits, bool may_be_wider);
  OperandRef SourceRef(const Operand& operand, Type type, bool may_be_wider);

 private:
  OperandRef RegisterRef(const Operand& operand, unsigned bits, bool may_be_wider);
  OperandRef SymbolRef(const Operand& operand, unsigned bits);
  OperandRef SpecialRef(const Operand& operand, unsigned bits, bool may_be_wider);
  OperandRef NumberRef(const Operand& operand, Type type);

  KernelBuilder& kernel_;
  Instance& instance_;
  const Statement& statement_;
  const Modifiers& modifiers_;
  Instruction out_;
  std::size_t next_ = 0;
  Status status_;
};

// .rn, .rni or none: nearest even; and so on.
Rounding RoundingOf(Modifier modifier);

// .global and so on; none: generic.
Space SpaceOf(Modifier modifier);
void DecodeWarpBarrier(InstructionBuilder& b);  // bar.warp.sync
void DecodeBulkCopy(InstructionBuilder& b);     // cp.async.bulk

// The decoders, by name: void DecodeAdd(InstructionBuilder&) and so on.
#define LIJIT_PTX_INSTRUCTION(name, types, modifiers, decoder) void decoder(InstructionBuilder&);
#include "runtime/emulator/instructions.def"
#undef LIJIT_PTX_INSTRUCTION

}  // namespace lijit::emulator

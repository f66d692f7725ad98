// SPDX-License-Identifier: Apache-2.0
// The registers of a warp around wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions"): until a product was waited for, its accumulators may not be touched and its A
// registers not be written; registers that were written must be fenced before a product uses them.
//
// A register-to-register mov hands both on: compilers emit it where a variable lives on in another
// virtual register, and assemblers put both into one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/emulator/program.h"

namespace lijit::emulator {

class RegisterWatch {
 public:
  void Start(std::uint32_t register_bytes) {
    slots_.assign(register_bytes / kSlotBytes + 1, Slot{});
    fences_ = open_group_ = 1;
    done_groups_ = latest_used_ = 0;
  }

  // What is wrong with an instruction's use of registers, as a phrase about the thread, or "".
  std::string_view Observe(const Instruction& in, const OperandRef* operands) {
    return in.use == RegisterUse::kCopy ? Copy(operands[0], operands[1]) : Use(in, operands);
  }

  // A product in the open group.
  std::string_view UseAccumulator(OperandRef ref);
  std::string_view UseSource(OperandRef ref);

  void Fence() { ++fences_; }
  // Closes the open group; returns its number.
  std::uint32_t Commit() { return open_group_++; }
  std::uint32_t open_group() const { return open_group_; }
  std::uint32_t done_groups() const { return done_groups_; }
  // All groups are done but the last `groups` closed ones and the open one.
  void Wait(std::uint64_t groups) {
    const std::uint32_t closed = open_group_ - 1;
    if (groups < closed - done_groups_) done_groups_ = closed - static_cast<std::uint32_t>(groups);
  }

 private:
  static constexpr std::uint32_t kSlotBytes = 64;  // values begin at multiples
  struct Slot {
    std::uint32_t accumulator = 0;  // group of the last product that adds to it
    std::uint32_t source = 0;       // group of the last product that reads it
    std::uint32_t written = 0;      // number of the fence before its last write
  };

  Slot& SlotOf(OperandRef ref) { return slots_[ref.offset() / kSlotBytes]; }
  std::string_view Use(const Instruction& in, const OperandRef* operands);
  std::string_view Copy(OperandRef to, OperandRef from);

  std::vector<Slot> slots_;
  std::uint32_t fences_ = 1;
  std::uint32_t open_group_ = 1;
  std::uint32_t done_groups_ = 0;
  std::uint32_t latest_used_ = 0;  // the last group with a product
};

}  // namespace lijit::emulator

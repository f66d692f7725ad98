// SPDX-License-Identifier: Apache-2.0
// Instructions about the launch and its resources: setmaxnreg, griddepcontrol and createpolicy.
// None changes a result; setmaxnreg is checked.
#include <fmt/format.h>

#include "runtime/emulator/cta.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"
#include "runtime/emulator/warp_matrix.h"

namespace lijit::emulator {
namespace {

// `immediate` is the number of registers a thread.
void SetRegisters(Warp& warp, const Instruction& in, Mask mask) {
  if (!IsWholeWarp(warp, in, mask) || !StepTogether(warp, in, 0, 0)) return;
  const auto wanted = static_cast<std::uint32_t>(in.immediate);
  std::uint32_t& registers = warp.cta().registers_of(warp.index());
  const bool grows = in.operation == Modifier::kInc;
  if (registers != 0 && (grows ? wanted < registers : wanted > registers)) {
    return warp.cta().Report("registers", in, warp.index() * kWarpSize,
                             fmt::format("has {} registers", registers));
  }
  registers = wanted;
}

void DoNothing(Warp&, const Instruction&, Mask) {}

void MakePolicy(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint64_t>(in, 0);
  ForLanes(mask, [=](unsigned lane) { d[lane] = 1; });
}

}  // namespace

void DecodeSetmaxnreg(InstructionBuilder& b) {
  const Modifier operation = b.Of(Category::kOperation);
  if (operation != Modifier::kInc && operation != Modifier::kDec) b.Fail("needs '.inc' or '.dec'");
  const std::string_view target = b.kernel().module().target;
  if (!target.ends_with('a') && !target.ends_with('f')) b.Fail("needs a target such as sm_90a");
  const std::uint64_t registers = b.IntegerOperand();
  if (registers < 24 || registers > 256 || registers % 8 != 0) {
    b.Fail("the number of registers is 24 to 256 and a multiple of 8");
  }
  b.out().operation = operation;
  b.out().immediate = static_cast<std::int64_t>(registers);
  b.out().sets_registers = true;
  WaitForWarp(b);
  b.Execute(&SetRegisters);
}

// Kernels run one after the other here: all that a launch depends on is complete when it begins.
void DecodeGriddepcontrol(InstructionBuilder& b) {
  if (!b.Has(Category::kDependents)) b.Fail("needs '.launch_dependents' or '.wait'");
  b.Execute(&DoNothing);
}

void DecodeCreatepolicy(InstructionBuilder& b) {
  if (!b.Has(Category::kPolicy) || !b.Has(Category::kPriority)) {
    b.Fail("needs '.fractional' and a priority");
  }
  b.Destination(Type::kB64);
  if (b.remaining() > 0) b.Source(Type::kF32);
  b.Execute(&MakePolicy);
}

}  // namespace lijit::emulator

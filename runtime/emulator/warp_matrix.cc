// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/warp_matrix.h"

#include <fmt/format.h>

#include <bit>

#include "runtime/emulator/cta.h"

namespace lijit::emulator {

void TakeFragment(InstructionBuilder& b, unsigned count, bool is_destination) {
  const Operand* operand = b.Take();
  if (operand == nullptr) return;
  const bool is_vector = operand->kind == Operand::Kind::kVector;
  if (is_vector ? operand->elements.size() != count : count != 1) {
    return b.Fail(fmt::format("a fragment of {} registers is wanted", count));
  }
  for (unsigned i = 0; i < count; ++i) {
    const Operand& element = is_vector ? operand->elements[i] : *operand;
    b.Add(is_destination ? b.DestinationRef(element, 32, false)
                         : b.SourceRef(element, Type::kB32, false));
  }
}

void WaitForWarp(InstructionBuilder& b) {
  if (!b.Has(Category::kSync) || !b.Has(Category::kAligned)) b.Fail("needs '.sync.aligned'");
  b.Constant(kFullMask, 32);
  b.out().action = Action::kWarpSync;
}

bool IsWholeWarp(Warp& warp, const Instruction& in, Mask mask) {
  if (mask == kFullMask) return true;
  warp.cta().Report("divergence", in,
                    warp.index() * kWarpSize + static_cast<unsigned>(std::countr_zero(mask)),
                    fmt::format("executes it with {} threads of its warp; it is for all 32",
                                std::popcount(mask)));
  return false;
}

bool StepTogether(Warp& warp, const Instruction& in, std::uint64_t a, std::uint64_t b) {
  Cta& cta = warp.cta();
  const unsigned group = warp.index() / kGroupWarps;
  const unsigned thread = warp.index() * kWarpSize;
  if ((group + 1) * kGroupWarps * kWarpSize > cta.threads()) {
    cta.Report("divergence", in, thread, "is not in a whole warpgroup of 128 threads");
    return false;
  }
  if (cta.warpgroup_steps(group).Add(warp.index() % kGroupWarps, {cta.IndexOf(in), a, b})) {
    return true;
  }
  cta.Report("divergence", in, thread,
             "executes this where another warp of its warpgroup executes another such instruction, "
             "or has other descriptors");
  return false;
}

}  // namespace lijit::emulator

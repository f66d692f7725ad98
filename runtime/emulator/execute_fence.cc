// SPDX-License-Identifier: Apache-2.0
// Fences (PTX ISA, "membar/fence"). Those of one proxy order nothing here: accesses of a CTA happen
// in the order of execution, and the atomics with which CTAs find each other are acquire and
// release operations of the host. Those between proxies are remembered, for checks.
#include "runtime/emulator/cta.h"
#include "runtime/emulator/instruction_builder.h"

namespace lijit::emulator {
namespace {

void DoNothing(Warp&, const Instruction&, Mask) {}

// What threads wrote, as far as this one knows of it, is seen by asynchronous copies and products.
void FenceProxy(Warp& warp, const Instruction&, Mask) {
  warp.cta().races().Fence(warp.index());
  warp.cta().mbarriers().Fence();
}

void FenceMbarriers(Warp& warp, const Instruction&, Mask) { warp.cta().mbarriers().Fence(); }

// .async, for all memory, for .global, or for .shared::{cta, cluster}.
void DecodeProxyFence(InstructionBuilder& b) {
  if (!b.Has(Category::kAsync)) return b.Fail("needs '.async'");
  const Space space = SpaceOf(b.Of(Category::kSpace));
  if (space == Space::kGlobal) return b.Execute(&DoNothing);
  if (space != Space::kGeneric && space != Space::kShared) b.Fail("is for '.global' or '.shared'");
  b.Execute(&FenceProxy);
}

}  // namespace

void DecodeFence(InstructionBuilder& b) {
  const Modifier form = b.Of(Category::kMbarrierForm);
  if (form == Modifier::kMbarrierInit) {
    if (b.Of(Category::kStrength) != Modifier::kRelease ||
        b.Of(Category::kScope) != Modifier::kCluster) {
      b.Fail("needs '.release.cluster'");
    }
    return b.Execute(&FenceMbarriers);
  }
  if (form != Modifier::kNone) b.Fail("is no known fence");
  if (b.Has(Category::kProxy)) return DecodeProxyFence(b);
  if (b.Has(Category::kAsync) || b.Has(Category::kSpace)) b.Fail("needs '.proxy'");
  b.Execute(&DoNothing);
}

void DecodeMembar(InstructionBuilder& b) { b.Execute(&DoNothing); }

}  // namespace lijit::emulator

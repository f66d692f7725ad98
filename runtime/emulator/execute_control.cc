// SPDX-License-Identifier: Apache-2.0
// Control flow and barriers: the scheduler (warp.cc) executes them, so they have no handlers.
#include "runtime/emulator/instruction_builder.h"

namespace lijit::emulator {
namespace {

std::uint32_t StatementOf(InstructionBuilder& b, const Operand* operand) {
  if (operand == nullptr || operand->kind != Operand::Kind::kLabel) {
    b.Fail("needs a label");
    return 0;
  }
  return static_cast<std::uint32_t>(operand->value);
}

// Number and count, which the text may leave out: 0 stands for all threads.
void BarrierOperands(InstructionBuilder& b, bool has_count) {
  b.Source(Type::kB32);
  if (has_count) {
    b.Source(Type::kB32);
  } else {
    b.Constant(0, 32);
  }
}

void DecodeBarrierReduction(InstructionBuilder& b) {
  const Modifier operation = b.Of(Category::kOperation);
  const bool counts = operation == Modifier::kPopc;
  if (!counts && operation != Modifier::kAnd && operation != Modifier::kOr) {
    b.Fail("reduces with '.popc', '.and' or '.or'");
  }
  if (counts != (b.LastType() == Type::kU32)) b.Fail("'.popc' has type .u32, the rest .pred");
  b.out().barrier = counts                        ? BarrierForm::kReducePopc
                    : operation == Modifier::kAnd ? BarrierForm::kReduceAnd
                                                  : BarrierForm::kReduceOr;
  b.Destination(b.LastType());
  BarrierOperands(b, b.remaining() == 3);
  b.PredicateSource();
}

void DecodeCtaBarrier(InstructionBuilder& b, bool aligned) {
  b.out().action = Action::kBarrier;
  b.out().aligned = aligned;
  const Modifier form = b.Of(Category::kBarrierForm);
  const Modifier scope = b.Of(Category::kScope);
  if (scope != Modifier::kNone && scope != Modifier::kCta) b.Fail("acts on the CTA only");
  if (form == Modifier::kRed) return DecodeBarrierReduction(b);
  if (form == Modifier::kArrive) {
    b.out().barrier = BarrierForm::kArrive;
    return BarrierOperands(b, true);
  }
  if (!b.Has(Category::kSync)) b.Fail("needs '.sync', '.arrive' or '.red'");
  BarrierOperands(b, b.remaining() == 2);
}

}  // namespace

void DecodeBra(InstructionBuilder& b) {
  b.out().action = Action::kBranch;
  b.out().target = StatementOf(b, b.Take());
}

void DecodeBrx(InstructionBuilder& b) {
  if (b.Of(Category::kShuffle) != Modifier::kIdx) b.Fail("needs '.idx'");
  b.out().action = Action::kBranchTable;
  b.Source(Type::kB32);
  const Operand* name = b.Take();
  if (name == nullptr) return;
  for (const BranchTable& table : b.instance().function->branch_tables) {
    if (table.name != name->name) continue;
    std::vector<std::uint32_t> targets;
    for (const Operand& target : table.targets) targets.push_back(StatementOf(b, &target));
    b.out().target = static_cast<std::uint32_t>(b.kernel().kernel().branch_tables.size());
    b.kernel().kernel().branch_tables.push_back(std::move(targets));
    return;
  }
  b.Fail("needs a list of .branchtargets");
}

void DecodeExit(InstructionBuilder& b) { b.out().action = Action::kExit; }
void DecodeTrap(InstructionBuilder& b) { b.out().action = Action::kTrap; }

void DecodeBar(InstructionBuilder& b) {
  if (b.Of(Category::kBarrierForm) == Modifier::kWarp) return DecodeWarpBarrier(b);
  if (b.Has(Category::kAligned)) b.Fail("takes no '.aligned'");
  DecodeCtaBarrier(b, true);
}

void DecodeBarrier(InstructionBuilder& b) {
  if (b.Of(Category::kBarrierForm) == Modifier::kWarp) b.Fail("is written bar.warp.sync");
  DecodeCtaBarrier(b, b.Has(Category::kAligned));
}

void DecodeNanosleep(InstructionBuilder& b) {
  b.Source(Type::kB32);
  b.Execute([](Warp&, const Instruction&, Mask) {});
}

}  // namespace lijit::emulator

// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/register_watch.h"

#include <algorithm>

namespace lijit::emulator {
namespace {

constexpr std::string_view kReadsAccumulator =
    "reads an accumulator of a wgmma that no wgmma.wait_group has waited for";
constexpr std::string_view kWritesAccumulator =
    "writes an accumulator of a wgmma that no wgmma.wait_group has waited for";
constexpr std::string_view kWritesSource =
    "writes a register that holds A of a wgmma that no wgmma.wait_group has waited for";
constexpr std::string_view kNeedsFence =
    "uses a register that was written with no wgmma.fence since";

}  // namespace

std::string_view RegisterWatch::Use(const Instruction& in, const OperandRef* operands) {
  for (unsigned i = 0; i < in.destination_count; ++i) {
    Slot& slot = SlotOf(operands[i]);
    if (slot.accumulator > done_groups_) return kWritesAccumulator;
    if (slot.source > done_groups_) return kWritesSource;
    slot.written = fences_;
  }
  if (latest_used_ <= done_groups_) return {};
  for (unsigned i = in.destination_count; i < in.operand_count; ++i) {
    if (!operands[i].is_constant() && SlotOf(operands[i]).accumulator > done_groups_) {
      return kReadsAccumulator;
    }
  }
  return {};
}

// The old value of the destination is lost: it must not be one that a product still changes, unless
// the new one is, too.
std::string_view RegisterWatch::Copy(OperandRef to, OperandRef from) {
  Slot& slot = SlotOf(to);
  if (slot.source > done_groups_) return kWritesSource;
  const Slot copied = from.is_constant() ? Slot{} : SlotOf(from);
  if (slot.accumulator > done_groups_ && copied.accumulator <= done_groups_) {
    return kWritesAccumulator;
  }
  slot.accumulator = copied.accumulator;
  slot.written = copied.written;
  return {};
}

std::string_view RegisterWatch::UseAccumulator(OperandRef ref) {
  Slot& slot = SlotOf(ref);
  if (slot.written == fences_) return kNeedsFence;
  if (slot.source > done_groups_) return kWritesSource;
  slot.accumulator = latest_used_ = open_group_;
  return {};
}

std::string_view RegisterWatch::UseSource(OperandRef ref) {
  Slot& slot = SlotOf(ref);
  if (slot.written == fences_) return kNeedsFence;
  if (slot.accumulator > done_groups_) return kReadsAccumulator;
  slot.source = latest_used_ = open_group_;
  return {};
}

}  // namespace lijit::emulator

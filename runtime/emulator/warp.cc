// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/warp.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/emulator/cta.h"
#include "runtime/emulator/phase_wait.h"

namespace lijit::emulator {
namespace {

template <typename F>
void ForEachLane(Mask mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

}  // namespace

void Warp::Start(unsigned threads) {
  const Kernel& kernel = cta_.kernel();
  code_ = kernel.code.data();
  operands_ = kernel.operands.data();
  constants_ = kernel.constants.data();
  register_storage_.assign(kernel.register_bytes, std::byte{0});
  registers_ = register_storage_.data();
  local_.resize(kernel.local_bytes * kWarpSize);
  local_bits_.assign(local_.size() / 8 + 1, 0);
  present_ = live_ = mask_ = threads >= kWarpSize ? kFullMask : (Mask{1} << threads) - 1;
  pc_ = 0;
  next_meeting_ = UINT32_MAX;
  used_up_ = false;
  groups_.clear();
  watches_registers_ = kernel.has_wgmma;
  if (watches_registers_) watch_.Start(kernel.register_bytes);
  pending_products_.clear();
  FillSpecials();
}

void Warp::FillSpecials() {
  for (const SpecialSlot& slot : cta_.kernel().specials) {
    auto* lanes = reinterpret_cast<std::uint32_t*>(registers_ + slot.offset);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      lanes[lane] = SpecialValue(slot.special, lane);
    }
  }
}

std::uint32_t Warp::SpecialValue(Special special, unsigned lane) const {
  const LaunchShape& shape = cta_.config().shape;
  const unsigned thread = index_ * kWarpSize + lane;
  switch (special) {
#define LIJIT_PTX_SPECIAL(id, name, bits, value) \
  case Special::id:                              \
    return value;
#include "runtime/emulator/special_registers.def"
#undef LIJIT_PTX_SPECIAL
  }
  return 0;
}

void Warp::ReportHere(std::string_view kind, std::string_view what) {
  if (mask_ == 0 && !Select()) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(mask_));
  cta_.Report(kind, code_[pc_], index_ * kWarpSize + lane, what);
}

std::uint64_t Warp::Run(std::uint64_t quantum) {
  std::uint64_t executed = 0;
  if (mask_ == 0 && !Select()) return 0;
  if (used_up_) Rotate();
  used_up_ = false;
  auto threads = static_cast<unsigned>(std::popcount(mask_));
  Mask counted = mask_;
  for (std::uint64_t i = 0; i < quantum; ++i) {
    if (mask_ != counted) {
      counted = mask_;
      threads = static_cast<unsigned>(std::popcount(mask_));
    }
    executed += threads;
    Step(code_[pc_]);
    if (cta_.failed()) return executed;
    if (pc_ >= next_meeting_ || mask_ == 0) {
      if (!Select()) return executed;
    }
  }
  used_up_ = true;
  return executed;
}

// False after a finding.
bool Warp::Observe(const Instruction& instruction) {
  if (instruction.use == RegisterUse::kProduct) return true;
  const std::string_view wrong = watch_.Observe(instruction, operands_ + instruction.first_operand);
  if (!wrong.empty()) ReportHere("async", wrong);
  return wrong.empty();
}

inline void Warp::Step(const Instruction& instruction) {
  const Mask mask = GuardedMask(instruction);
  if (watches_registers_ && mask != 0 && !Observe(instruction)) return;
  switch (instruction.action) {
    case Action::kExecute:
      if (mask != 0) instruction.handler(*this, instruction, mask);
      ++pc_;
      break;
    case Action::kBranch:
      Branch(instruction, mask);
      break;
    case Action::kBranchTable:
      BranchTable(instruction, mask);
      break;
    case Action::kExit:
      Exit(mask);
      break;
    case Action::kWarpSync:
      Synchronize(instruction, mask);
      break;
    case Action::kBarrier:
      ArriveAtBarrier(instruction, mask);
      break;
    case Action::kPhaseWait:
      WaitForPhase(instruction, mask);
      break;
    case Action::kTrap:
      Trap(instruction, mask);
      break;
  }
}

// Adds a group that can run but is not running.
void Warp::SetAside(std::uint32_t pc, Mask mask) {
  if (mask == 0) return;
  groups_.push_back({pc, mask, Wait::kNone, 0});
  next_meeting_ = std::min(next_meeting_, pc);
}

// Part or all of the running group waits at its instruction.
void Warp::Suspend(Mask mask, Wait wait, std::uint32_t barrier) {
  groups_.push_back({pc_, mask, wait, barrier});
  mask_ &= ~mask;
}

void Warp::Branch(const Instruction& instruction, Mask mask) {
  const Mask others = mask_ & ~mask;
  if (others == 0) {
    pc_ = instruction.target;
    return;
  }
  SetAside(instruction.target, mask);
  mask_ = others;
  ++pc_;
}

void Warp::BranchTable(const Instruction& instruction, Mask mask) {
  const auto& targets = cta_.kernel().branch_tables[instruction.target];
  const auto* index = In<std::uint32_t>(instruction, 0);
  const Mask others = mask_ & ~mask;
  bool bad = false;
  ForEachLane(mask, [&](unsigned lane) {
    if (bad) return;
    if (index[lane] >= targets.size()) {
      bad = true;
      cta_.Report(
          "out-of-bounds", instruction, index_ * kWarpSize + lane,
          fmt::format("branches to entry {} of a table of {}", index[lane], targets.size()));
      return;
    }
    SetAside(targets[index[lane]], Mask{1} << lane);
  });
  mask_ = others;
  ++pc_;
}

void Warp::Exit(Mask mask) {
  live_ &= ~mask;
  mask_ &= ~mask;
  ++pc_;
}

void Warp::Trap(const Instruction& instruction, Mask mask) {
  ++pc_;
  if (mask == 0) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  cta_.Report("trap", instruction, index_ * kWarpSize + lane, "executes a trap");
}

// The threads that must meet before `instruction` does its work: its last operand, or all of the
// warp at an aligned barrier. A barrier without .aligned makes no thread of the warp wait.
Mask Warp::MembersOf(const Instruction& instruction, unsigned lane) const {
  if (instruction.action == Action::kBarrier) return instruction.aligned ? live_ : 0;
  return In<Mask>(instruction, instruction.operand_count - 1u)[lane];
}

// The member mask that all threads of `mask` have, if it is one.
std::optional<Mask> Warp::CommonMembers(const Instruction& instruction, Mask mask) const {
  const Mask members = MembersOf(instruction, static_cast<unsigned>(std::countr_zero(mask)));
  if (instruction.action == Action::kBarrier ||
      Ref(instruction, instruction.operand_count - 1u).is_constant()) {
    return members;
  }
  bool same = true;
  ForEachLane(mask, [&](unsigned lane) { same &= MembersOf(instruction, lane) == members; });
  return same ? std::optional(members) : std::nullopt;
}

bool Warp::MembersPresent(const Instruction& instruction, Mask mask) const {
  if (const std::optional<Mask> members = CommonMembers(instruction, mask)) {
    return (*members & live_ & ~mask) == 0;
  }
  bool present = true;
  ForEachLane(
      mask, [&](unsigned lane) { present &= (MembersOf(instruction, lane) & live_ & ~mask) == 0; });
  return present;
}

// Every thread must name itself, and all that it names must name the same.
bool Warp::CheckMembers(const Instruction& instruction, Mask mask) {
  const std::optional<Mask> common = CommonMembers(instruction, mask);
  if (common && (mask & ~*common) == 0) return true;
  ForEachLane(mask, [&](unsigned lane) {
    const Mask members = MembersOf(instruction, lane);
    const unsigned thread = index_ * kWarpSize + lane;
    if ((members >> lane & 1) == 0) {
      cta_.Report("divergence", instruction, thread,
                  fmt::format("is not in its own member mask {:#010x}", members));
      return;
    }
    ForEachLane(members & mask, [&](unsigned other) {
      if (MembersOf(instruction, other) == members) return;
      cta_.Report("divergence", instruction, thread,
                  fmt::format("has member mask {:#010x}, but lane {}, which is in it, has {:#010x}",
                              members, other, MembersOf(instruction, other)));
    });
  });
  return !cta_.failed();
}

// Merges the groups that wait for threads at this instruction into the running one.
void Warp::GatherWaiting() {
  std::erase_if(groups_, [&](const Group& group) {
    if (group.wait != Wait::kMembers || group.pc != pc_) return false;
    mask_ |= group.mask;
    return true;
  });
}

// bar.warp.sync lets threads meet that stand at different instructions, if their masks are equal.
bool Warp::ReleaseWarpBarriers(const Instruction& instruction) {
  if (instruction.handler != nullptr || instruction.action != Action::kWarpSync) return false;
  const auto first = static_cast<unsigned>(std::countr_zero(mask_));
  const Mask members = MembersOf(instruction, first);
  const auto meets = [&](const Group& group) {
    const Instruction& other = code_[group.pc];
    return group.wait == Wait::kMembers && other.action == Action::kWarpSync &&
           other.handler == nullptr &&
           MembersOf(other, static_cast<unsigned>(std::countr_zero(group.mask))) == members;
  };
  Mask met = mask_;
  for (const Group& group : groups_) {
    if (meets(group)) met |= group.mask;
  }
  if ((members & live_ & ~met) != 0) return false;
  for (Group& group : groups_) {
    if (!meets(group)) continue;
    group.wait = Wait::kNone;
    ++group.pc;
    next_meeting_ = std::min(next_meeting_, group.pc);
  }
  return true;
}

void Warp::Synchronize(const Instruction& instruction, Mask mask) {
  if (mask == 0) {
    ++pc_;
    return;
  }
  SetAside(pc_ + 1, mask_ & ~mask);
  mask_ = mask;
  GatherWaiting();
  if (!CheckMembers(instruction, mask_)) return;
  if (!MembersPresent(instruction, mask_) && !ReleaseWarpBarriers(instruction)) {
    Suspend(mask_, Wait::kMembers, 0);
    return;
  }
  cta_.races().SynchronizeWarp(index_);
  if (instruction.handler != nullptr) instruction.handler(*this, instruction, mask_);
  ++pc_;
}

void Warp::ArriveAtBarrier(const Instruction& instruction, Mask mask) {
  if (mask == 0) {
    ++pc_;
    return;
  }
  SetAside(pc_ + 1, mask_ & ~mask);
  mask_ = mask;
  GatherWaiting();
  if (!MembersPresent(instruction, mask_)) {
    Suspend(mask_, Wait::kMembers, 0);
    return;
  }
  const auto first = static_cast<unsigned>(std::countr_zero(mask_));
  const bool reduces = instruction.barrier >= BarrierForm::kReducePopc;
  const unsigned base = reduces ? 1 : 0;  // after the reduction's destination
  const std::uint32_t barrier = In<std::uint32_t>(instruction, base)[first];
  const std::uint32_t expected = In<std::uint32_t>(instruction, base + 1)[first];
  const Mask predicate = reduces ? PredicateIn(instruction, base + 2) & mask_ : 0;
  const Mask lanes = mask_;
  if (instruction.barrier == BarrierForm::kArrive) {
    ++pc_;
  } else {
    Suspend(lanes, Wait::kBarrier, barrier);
  }
  cta_.Arrive(instruction, *this, lanes, barrier, expected, predicate);
}

void Warp::Release(std::uint32_t barrier, std::uint32_t reduction) {
  for (Group& group : groups_) {
    if (group.wait != Wait::kBarrier || group.barrier != barrier) continue;
    const Instruction& instruction = code_[group.pc];
    if (instruction.barrier == BarrierForm::kReducePopc) {
      auto* result = Out<std::uint32_t>(instruction, 0);
      ForEachLane(group.mask, [&](unsigned lane) { result[lane] = reduction; });
    } else if (instruction.barrier != BarrierForm::kSync) {
      PredicateOut(instruction, 0, group.mask, reduction != 0 ? kFullMask : 0);
    }
    group.wait = Wait::kNone;
    ++group.pc;
    next_meeting_ = std::min(next_meeting_, group.pc);
  }
}

void Warp::WaitForPhase(const Instruction& instruction, Mask mask) {
  if (mask == 0) {
    ++pc_;
    return;
  }
  SetAside(pc_ + 1, mask_ & ~mask);
  mask_ = mask;
  const Mask ready = TestPhases(*this, instruction, mask);
  if (cta_.failed()) return;
  PredicateOut(instruction, 0, ready, kFullMask);
  if (ready != mask) Suspend(mask & ~ready, Wait::kPhase, 0);
  ++pc_;
}

bool Warp::ExpirePhaseWaits() {
  bool expired = false;
  for (Group& group : groups_) {
    if (group.wait != Wait::kPhase) continue;
    PredicateOut(code_[group.pc], 0, group.mask, 0);
    group.wait = Wait::kNone;
    ++group.pc;
    expired = true;
  }
  return expired;
}

// Whether what the group waited for has happened since.
bool Warp::IsReleased(const Group& group) {
  switch (group.wait) {
    case Wait::kMembers:  // which may have exited
      return MembersPresent(code_[group.pc], group.mask);
    case Wait::kPhase:
      return MayTestPhase(*this, code_[group.pc], group.mask);
    default:
      return group.wait == Wait::kNone;
  }
}

bool Warp::CanRun() {
  if (mask_ != 0) return true;
  bool can_run = false;
  for (Group& group : groups_) {
    if (!IsReleased(group)) continue;
    group.wait = Wait::kNone;
    can_run = true;
  }
  return can_run;
}

// Makes the group that is furthest behind the running one, with all that stand where it stands.
bool Warp::Select() {
  if (mask_ != 0) groups_.push_back({pc_, mask_, Wait::kNone, 0});
  mask_ = 0;
  if (!CanRun()) return false;
  pc_ = UINT32_MAX;
  for (const Group& group : groups_) {
    if (group.wait == Wait::kNone) pc_ = std::min(pc_, group.pc);
  }
  std::erase_if(groups_, [&](const Group& group) {
    if (group.wait != Wait::kNone || group.pc != pc_) return false;
    mask_ |= group.mask;
    return true;
  });
  next_meeting_ = UINT32_MAX;
  for (const Group& group : groups_) {
    if (group.wait == Wait::kNone) next_meeting_ = std::min(next_meeting_, group.pc);
  }
  return true;
}

// A group that used up its quantum may be waiting, in a loop, for what another group would do: lets
// the one that has waited longest run, without meetings, for one quantum.
void Warp::Rotate() {
  const auto next = std::find_if(groups_.begin(), groups_.end(),
                                 [](const Group& group) { return group.wait == Wait::kNone; });
  if (next == groups_.end()) return;
  const Group chosen = *next;
  groups_.erase(next);
  groups_.push_back({pc_, mask_, Wait::kNone, 0});
  pc_ = chosen.pc;
  mask_ = chosen.mask;
  next_meeting_ = UINT32_MAX;
}

}  // namespace lijit::emulator

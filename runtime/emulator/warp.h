// SPDX-License-Identifier: Apache-2.0
// 32 threads in step. Threads that take different ways form groups; the group that is furthest
// behind in the program runs first, so groups meet again where their ways do.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/emulator/global_memory.h"
#include "runtime/emulator/program.h"
#include "runtime/emulator/register_watch.h"
#include "runtime/emulator/warpgroup.h"

namespace lijit::emulator {

class Cta;

// Where generic addresses of the other spaces begin. Global addresses are below.
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 46;
inline constexpr std::uint64_t kLocalWindow = kSharedWindow + kWindowBytes;
inline constexpr std::uint64_t kParamWindow = kLocalWindow + kWindowBytes;

enum class Wait : std::uint8_t { kNone, kMembers, kBarrier, kPhase };

struct Group {
  std::uint32_t pc = 0;
  Mask mask = 0;
  Wait wait = Wait::kNone;
  std::uint32_t barrier = 0;
};

class Warp {
 public:
  Warp(Cta& cta, unsigned index) : cta_(cta), index_(index) {}

  // Begins at the kernel's first instruction with `threads` lanes.
  void Start(unsigned threads);

  // Runs until all its threads wait or have exited, or for `quantum` instructions, or until the
  // CTA has a finding. Returns the thread-instructions executed.
  std::uint64_t Run(std::uint64_t quantum);
  bool CanRun();
  Mask live() const { return live_; }
  Mask present() const { return present_; }
  const std::vector<Group>& waiting() const { return groups_; }

  // Lets the groups that wait at a barrier go on. `reduction` is the value of a reducing barrier.
  void Release(std::uint32_t barrier, std::uint32_t reduction);

  // Lets the groups that wait for a phase find that it is not complete. False: there are none.
  bool ExpirePhaseWaits();

  // Reports a finding where the warp stands.
  void ReportHere(std::string_view kind, std::string_view what);

  // What handlers use. T is the unsigned integer of the register's width.
  template <typename T>
  const T* In(const Instruction& instruction, unsigned i) const {
    return reinterpret_cast<const T*>(Place(Ref(instruction, i)));
  }
  template <typename T>
  T* Out(const Instruction& instruction, unsigned i) {
    return reinterpret_cast<T*>(registers_ + Ref(instruction, i).offset());
  }
  Mask PredicateIn(const Instruction& instruction, unsigned i) const {
    return Predicate(Ref(instruction, i));
  }
  void PredicateOut(const Instruction& instruction, unsigned i, Mask active, Mask value) {
    Mask& place = *Out<Mask>(instruction, i);
    place = (place & ~active) | (value & active);
  }

  OperandRef operand(const Instruction& instruction, unsigned i) const {
    return Ref(instruction, i);
  }
  RegisterWatch& watch() { return watch_; }
  std::vector<PendingProduct>& pending_products() { return pending_products_; }

  Cta& cta() { return cta_; }
  unsigned index() const { return index_; }
  std::byte* local() { return local_.data(); }
  InitializedBits local_initialized() { return InitializedBits(local_bits_.data()); }
  const Allocation* cached_allocation = nullptr;  // of the last global access

 private:
  OperandRef Ref(const Instruction& instruction, unsigned i) const {
    return operands_[instruction.first_operand + i];
  }
  const std::byte* Place(OperandRef ref) const {
    return (ref.is_constant() ? constants_ : registers_) + ref.offset();
  }
  Mask Predicate(OperandRef ref) const {
    const Mask value = *reinterpret_cast<const Mask*>(Place(ref));
    return ref.is_negated() ? ~value : value;
  }
  Mask GuardedMask(const Instruction& instruction) const {
    return instruction.guard.is_none() ? mask_ : mask_ & Predicate(instruction.guard);
  }

  void FillSpecials();
  std::uint32_t SpecialValue(Special special, unsigned lane) const;

  void Step(const Instruction& instruction);
  bool Observe(const Instruction& instruction);
  void Branch(const Instruction& instruction, Mask mask);
  void BranchTable(const Instruction& instruction, Mask mask);
  void Exit(Mask mask);
  void Synchronize(const Instruction& instruction, Mask mask);
  void ArriveAtBarrier(const Instruction& instruction, Mask mask);
  void WaitForPhase(const Instruction& instruction, Mask mask);
  void Trap(const Instruction& instruction, Mask mask);

  Mask MembersOf(const Instruction& instruction, unsigned lane) const;
  std::optional<Mask> CommonMembers(const Instruction& instruction, Mask mask) const;
  bool MembersPresent(const Instruction& instruction, Mask mask) const;
  bool CheckMembers(const Instruction& instruction, Mask mask);
  bool ReleaseWarpBarriers(const Instruction& instruction);
  bool IsReleased(const Group& group);
  void SetAside(std::uint32_t pc, Mask mask);
  void Suspend(Mask mask, Wait wait, std::uint32_t barrier);
  void GatherWaiting();
  bool Select();
  void Rotate();

  Cta& cta_;
  unsigned index_;
  const Instruction* code_ = nullptr;
  const OperandRef* operands_ = nullptr;
  const std::byte* constants_ = nullptr;
  std::byte* registers_ = nullptr;
  std::vector<std::byte> register_storage_;
  std::vector<std::byte> local_;
  std::vector<std::uint8_t> local_bits_;

  std::uint32_t pc_ = 0;
  Mask mask_ = 0;                            // the running group
  std::uint32_t next_meeting_ = UINT32_MAX;  // the least pc of another group that could run
  Mask live_ = 0;
  Mask present_ = 0;
  bool used_up_ = false;  // the last Run ended with its quantum
  std::vector<Group> groups_;
  bool watches_registers_ = false;
  RegisterWatch watch_;
  std::vector<PendingProduct> pending_products_;
};

}  // namespace lijit::emulator

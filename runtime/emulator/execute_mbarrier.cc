// SPDX-License-Identifier: Apache-2.0
// mbarrier instructions (PTX ISA, "Parallel Synchronization and Communication Instructions:
// mbarrier"). See mbarrier.h for phases, bulk_copy.h for when copies complete one.
#include <fmt/format.h>

#include <bit>

#include "runtime/emulator/cta.h"
#include "runtime/emulator/host_memory.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"
#include "runtime/emulator/memory_access.h"
#include "runtime/emulator/phase_wait.h"

namespace lijit::emulator {
namespace {

constexpr AccessMode kOnMbarrier{.reads = true, .writes = true, .strong = true, .mbarrier = true};
constexpr AccessMode kMakesMbarrier{.writes = true, .mbarrier = true};

void Report(Warp& warp, const Instruction& in, unsigned lane, std::string_view what) {
  warp.cta().Report("mbarrier", in, warp.index() * kWarpSize + lane, what);
}

// Where the mbarrier is that operand `i` names, unless it cannot be in shared memory.
std::optional<std::uint64_t> OffsetOf(Warp& warp, const Instruction& in, unsigned i,
                                      unsigned lane) {
  const auto offset = SharedOffset(in.space, AddressOf(warp, in, i, lane));
  if (!offset || *offset % kMbarrierBytes != 0) return std::nullopt;
  const std::uint64_t bytes = warp.cta().shared_bytes();
  if (*offset >= bytes || bytes - *offset < kMbarrierBytes) return std::nullopt;
  return offset;
}

// The object that operand `i` names; null after a finding.
Mbarrier* Resolve(Warp& warp, const Instruction& in, unsigned i, unsigned lane, AccessMode mode) {
  Cta& cta = warp.cta();
  const std::uint64_t address = AddressOf(warp, in, i, lane);
  const auto offset = OffsetOf(warp, in, i, lane);
  if (offset && cta.mbarriers().Find(*offset) == nullptr) {
    Report(warp, in, lane,
           fmt::format("uses {}, where no mbarrier was initialized", cta.SharedVariable(*offset)));
    return nullptr;
  }
  if (!offset && in.space == Space::kGeneric && !SharedOffset(in.space, address)) {
    Report(warp, in, lane,
           fmt::format("uses address {:#x}, which is not in shared memory", address));
    return nullptr;
  }
  if (ResolveIn(in.space, warp, in, lane, address, kMbarrierBytes, mode) == nullptr) return nullptr;
  return cta.mbarriers().Find(*offset);
}

// Calls f(lane, barrier), whose result is what is wrong or "", for each lane.
template <typename F>
void ForMbarriers(Warp& warp, const Instruction& in, unsigned i, Mask mask, F f) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    Mbarrier* barrier = Resolve(warp, in, i, lane, kOnMbarrier);
    if (barrier == nullptr) return;
    warp.cta().NoteProgress();
    const std::string wrong = f(lane, *barrier);
    if (!wrong.empty()) return Report(warp, in, lane, wrong);
  }
}

// Operands: the address, the count.
void Init(Warp& warp, const Instruction& in, Mask mask) {
  Cta& cta = warp.cta();
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const auto offset = OffsetOf(warp, in, 0, lane);
    if (offset && cta.mbarriers().Find(*offset) != nullptr) {
      return Report(
          warp, in, lane,
          fmt::format("initializes {}, where an mbarrier is in use", cta.SharedVariable(*offset)));
    }
    const std::uint64_t address = AddressOf(warp, in, 0, lane);
    std::byte* place = ResolveIn(in.space, warp, in, lane, address, kMbarrierBytes, kMakesMbarrier);
    if (place == nullptr) return;
    if (!offset) return Report(warp, in, lane, "initializes an mbarrier outside shared memory");
    StoreRelaxed<std::uint64_t>(place, 0);
    const std::string wrong =
        cta.mbarriers().Create(*offset).Init(warp.In<std::uint32_t>(in, 1)[lane]);
    if (!wrong.empty()) return Report(warp, in, lane, wrong);
    cta.NoteProgress();
  }
}

// Operand: the address.
void Invalidate(Warp& warp, const Instruction& in, Mask mask) {
  Cta& cta = warp.cta();
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    if (Resolve(warp, in, 0, lane, kMakesMbarrier) == nullptr) return;
    const std::uint64_t offset = *OffsetOf(warp, in, 0, lane);
    if (cta.bulk_copies().Uses(offset)) {
      return Report(warp, in, lane,
                    fmt::format("invalidates {}, which a pending copy completes",
                                cta.SharedVariable(offset)));
    }
    cta.mbarriers().Destroy(offset);
  }
}

// Operands: the state, the address, the count, and the bytes if `vector` is 1.
void Arrive(Warp& warp, const Instruction& in, Mask mask) {
  auto* state = warp.Out<std::uint64_t>(in, 0);
  const auto* count = warp.In<std::uint32_t>(in, 2);
  const auto* bytes = warp.In<std::uint32_t>(in, 3);
  const bool drops = in.operation == Modifier::kArriveDrop;
  ForMbarriers(warp, in, 1, mask, [&](unsigned lane, Mbarrier& barrier) -> std::string {
    std::string wrong = barrier.ExpectBytes(bytes[lane]);
    if (!wrong.empty()) return wrong;
    state[lane] = barrier.State();
    if (in.combine == Modifier::kNoComplete && barrier.pending() == count[lane]) {
      return "completes a phase, which an arrival with '.noComplete' may not";
    }
    if (in.strong) warp.cta().races().Release(warp.index(), barrier.met);
    return barrier.Arrive(count[lane], drops);
  });
}

// Operands: the address, the bytes.
void ExpectBytes(Warp& warp, const Instruction& in, Mask mask) {
  const auto* bytes = warp.In<std::uint32_t>(in, 1);
  ForMbarriers(warp, in, 0, mask,
               [&](unsigned lane, Mbarrier& barrier) { return barrier.ExpectBytes(bytes[lane]); });
}

void CompleteBytes(Warp& warp, const Instruction& in, Mask mask) {
  const auto* bytes = warp.In<std::uint32_t>(in, 1);
  ForMbarriers(warp, in, 0, mask, [&](unsigned lane, Mbarrier& barrier) {
    return barrier.CompleteBytes(bytes[lane]);
  });
}

// Operands: the count, the state.
void PendingCount(Warp& warp, const Instruction& in, Mask mask) {
  auto* count = warp.Out<std::uint32_t>(in, 0);
  const auto* state = warp.In<std::uint64_t>(in, 1);
  ForLanes(mask, [=](unsigned lane) { count[lane] = Mbarrier::PendingOf(state[lane]); });
}

// Operands of a wait: whether it is complete, the address, the parity or the state. `vector` is 1
// for a parity.
constexpr unsigned kWaitAddress = 1;
constexpr unsigned kWaitPhase = 2;

// The bytes of a copy that is over reach shared memory and its mbarrier.
std::string Complete(Cta& cta, Mbarrier& barrier, const BulkLoad& load) {
  std::byte* place = cta.shared() + load.offset;
  for (std::uint32_t i = 0; i < load.bytes; i += 8) {
    StoreRelaxed(place + i, LoadRelaxed<std::uint64_t>(load.source + i));
  }
  cta.shared_initialized().Mark(load.offset, load.bytes);
  cta.NoteSharedWrite(load.offset, load.bytes);
  cta.races().WriteAsync(load.offset, load.bytes, load.instruction, barrier.met);
  cta.NoteProgress();
  return barrier.CompleteBytes(load.bytes);
}

bool IsComplete(const Warp& warp, const Instruction& in, unsigned lane, const Mbarrier& barrier) {
  if (in.vector == 1) {
    return barrier.HasParityCompleted((warp.In<std::uint32_t>(in, kWaitPhase)[lane] & 1) != 0);
  }
  const std::uint64_t state = warp.In<std::uint64_t>(in, kWaitPhase)[lane];
  return barrier.phase() != Mbarrier::PhaseOf(state);
}

// What is wrong with the phase that the lane waits for, or "".
std::string CheckPhase(const Warp& warp, const Instruction& in, unsigned lane,
                       const Mbarrier& barrier) {
  if (in.vector == 1) {
    const std::uint32_t parity = warp.In<std::uint32_t>(in, kWaitPhase)[lane];
    return parity <= 1 ? "" : fmt::format("waits for parity {}; it can be 0 or 1", parity);
  }
  const std::uint64_t phase = Mbarrier::PhaseOf(warp.In<std::uint64_t>(in, kWaitPhase)[lane]);
  if (phase == barrier.phase() || phase + 1 == barrier.phase()) return {};
  return fmt::format(
      "waits for phase {} of an mbarrier that is in phase {}; it must be that or the "
      "one before",
      phase, barrier.phase());
}

// Whether the lane's phase is complete, after all copies that can complete it. False, too, after a
// finding.
bool TestPhase(Warp& warp, const Instruction& in, unsigned lane, std::uint64_t offset,
               Mbarrier& barrier) {
  Cta& cta = warp.cta();
  while (!IsComplete(warp, in, lane, barrier) && barrier.pending() == 0) {
    const auto load = cta.bulk_copies().TakeLoad(offset);
    if (!load) break;
    const std::string wrong = Complete(cta, barrier, *load);
    if (!wrong.empty()) {
      cta.Report("mbarrier", cta.kernel().code[load->instruction], load->thread, wrong);
      return false;
    }
  }
  return IsComplete(warp, in, lane, barrier);
}

bool SameWait(const Warp& warp, const Instruction& in, unsigned a, unsigned b) {
  if (AddressOf(warp, in, kWaitAddress, a) != AddressOf(warp, in, kWaitAddress, b)) return false;
  if (in.vector == 1) {
    const auto* parity = warp.In<std::uint32_t>(in, kWaitPhase);
    return parity[a] == parity[b];
  }
  const auto* state = warp.In<std::uint64_t>(in, kWaitPhase);
  return state[a] == state[b];
}

// Calls f(lanes) for each set of lanes that wait for the same.
template <typename F>
void ForWaits(const Warp& warp, const Instruction& in, Mask mask, F f) {
  while (mask != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    Mask same = 0;
    for (Mask rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (SameWait(warp, in, first, lane)) same |= Mask{1} << lane;
    }
    if (!f(first, same)) return;
    mask &= ~same;
  }
}

}  // namespace

Mask TestPhases(Warp& warp, const Instruction& in, Mask mask) {
  Mask ready = 0;
  ForWaits(warp, in, mask, [&](unsigned lane, Mask same) {
    Mbarrier* barrier = Resolve(warp, in, kWaitAddress, lane, kOnMbarrier);
    if (barrier == nullptr) return false;
    const std::string wrong = CheckPhase(warp, in, lane, *barrier);
    if (!wrong.empty()) {
      Report(warp, in, lane, wrong);
      return false;
    }
    if (TestPhase(warp, in, lane, *OffsetOf(warp, in, kWaitAddress, lane), *barrier)) {
      ready |= same;
      if (in.strong) warp.cta().races().Leave(warp.index(), barrier->completed);
    }
    return !warp.cta().failed();
  });
  return warp.cta().failed() ? 0 : ready;
}

bool MayTestPhase(Warp& warp, const Instruction& in, Mask mask) {
  bool may_test = false;
  ForWaits(warp, in, mask, [&](unsigned lane, Mask) {
    const std::uint64_t offset = *OffsetOf(warp, in, kWaitAddress, lane);
    Mbarrier* barrier = warp.cta().mbarriers().Find(offset);
    // An object that is gone is the instruction's to report.
    may_test |= barrier == nullptr || TestPhase(warp, in, lane, offset, *barrier);
    return !may_test;
  });
  return may_test || warp.cta().failed();
}

std::string DescribePhaseWait(Warp& warp, const Instruction& in, Mask mask) {
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  const auto offset = OffsetOf(warp, in, kWaitAddress, lane);
  const Mbarrier* barrier = offset ? warp.cta().mbarriers().Find(*offset) : nullptr;
  if (barrier == nullptr) return {};
  return fmt::format(" for phase {} of the mbarrier at {}, which lacks {} arrivals and {} bytes",
                     barrier->phase(), warp.cta().SharedVariable(*offset), barrier->pending(),
                     barrier->bytes());
}

namespace {

void TakeAddress(InstructionBuilder& b) {
  const Space space = SpaceOf(b.Of(Category::kSpace));
  if (space != Space::kGeneric && space != Space::kShared) b.Fail("acts on shared memory");
  b.Address(space);
}

// What .relaxed says: the instruction orders nothing else.
void TakeOrder(InstructionBuilder& b, Modifier ordered) {
  const Modifier strength = b.Of(Category::kStrength);
  if (strength != Modifier::kNone && strength != ordered && strength != Modifier::kRelaxed) {
    b.Fail(fmt::format("takes no '.{}'", Suffix(strength)));
  }
  b.out().strong = strength != Modifier::kRelaxed;
}

void DecodeArrive(InstructionBuilder& b) {
  const bool expects = b.Of(Category::kMbarrierForm) == Modifier::kExpectTx;
  b.out().operation = b.Of(Category::kBarrierForm);
  b.out().combine = b.Of(Category::kNoComplete);
  TakeOrder(b, Modifier::kRelease);
  b.Destination(Type::kB64);
  TakeAddress(b);
  if (expects) {
    b.Constant(1, 32);
    b.Source(Type::kB32);
    if (b.Has(Category::kNoComplete)) b.Fail("takes no '.noComplete'");
  } else {
    if (b.remaining() > 0 || b.Has(Category::kNoComplete)) {
      b.Source(Type::kB32);
    } else {
      b.Constant(1, 32);
    }
    b.Constant(0, 32);
  }
  b.Execute(&Arrive);
}

void DecodeWait(InstructionBuilder& b) {
  TakeOrder(b, Modifier::kAcquire);
  b.out().action = Action::kPhaseWait;
  b.PredicateDestination();
  TakeAddress(b);
  const bool parity = b.Has(Category::kParity);
  b.out().vector = parity ? 1 : 0;
  b.Source(parity ? Type::kB32 : Type::kB64);
  const bool may_hint = b.Of(Category::kMbarrierForm) == Modifier::kTryWait;
  if (may_hint && b.remaining() > 0) b.Source(Type::kB32);  // a time limit: a hint
}

void DecodeBytes(InstructionBuilder& b, Handler handler) {
  if (b.Of(Category::kStrength) != Modifier::kNone) TakeOrder(b, Modifier::kRelaxed);
  TakeAddress(b);
  b.Source(Type::kB32);
  b.Execute(handler);
}

void DecodeInit(InstructionBuilder& b) {
  TakeAddress(b);
  b.Source(Type::kB32);
  b.Execute(&Init);
}

void DecodeInval(InstructionBuilder& b) {
  TakeAddress(b);
  b.Execute(&Invalidate);
}

void DecodePendingCount(InstructionBuilder& b) {
  b.Destination(Type::kB32);
  b.Source(Type::kB64);
  b.Execute(&PendingCount);
}

}  // namespace

void DecodeMbarrier(InstructionBuilder& b) {
  const Modifier form = b.Of(Category::kMbarrierForm);
  const bool arrives = b.Has(Category::kBarrierForm);
  const bool waits = form == Modifier::kTestWait || form == Modifier::kTryWait;
  if (b.Has(Category::kParity) && !waits) b.Fail("takes no '.parity'");
  if (b.Has(Category::kNoComplete) && !arrives) b.Fail("takes no '.noComplete'");
  if (arrives && (form == Modifier::kNone || form == Modifier::kExpectTx)) return DecodeArrive(b);
  if (arrives) return b.Fail("is no known form of mbarrier");
  switch (form) {
    case Modifier::kInit:
      return DecodeInit(b);
    case Modifier::kInval:
      return DecodeInval(b);
    case Modifier::kExpectTx:
      return DecodeBytes(b, &ExpectBytes);
    case Modifier::kCompleteTx:
      return DecodeBytes(b, &CompleteBytes);
    case Modifier::kTestWait:
    case Modifier::kTryWait:
      return DecodeWait(b);
    case Modifier::kPendingCount:
      return DecodePendingCount(b);
    default:
      return b.Fail("is no known form of mbarrier");
  }
}

}  // namespace lijit::emulator

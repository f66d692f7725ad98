// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk and its groups (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy"):
// copies in one dimension between global memory and the block's shared memory. See bulk_copy.h for
// when the bytes move.
#include <fmt/format.h>

#include <bit>

#include "runtime/emulator/cta.h"
#include "runtime/emulator/host_memory.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/memory_access.h"

namespace lijit::emulator {
namespace {

constexpr std::uint32_t kUnit = 16;  // sizes and addresses are its multiples
constexpr AccessMode kAsyncRead{.reads = true, .proxy = true, .alignment = kUnit};
constexpr AccessMode kAsyncWrite{.writes = true, .later = true, .proxy = true, .alignment = kUnit};

// An address is two operands, base and offset; bit `i` of Instruction::vector is set if that of
// the i-th has 32 bits. After the addresses of destination and source come the size, and for a
// load the address of the mbarrier.
enum Place : unsigned { kDestination, kSource, kBarrier };
constexpr unsigned kSize = 4;

unsigned OperandOf(Place place) { return place == kBarrier ? 5 : 2 * place; }

std::uint64_t AddressAt(const Warp& warp, const Instruction& in, Place place, unsigned lane) {
  const unsigned i = OperandOf(place);
  const std::uint64_t offset = warp.In<std::uint64_t>(in, i + 1)[lane];
  if ((in.vector >> place & 1) == 0) return warp.In<std::uint64_t>(in, i)[lane] + offset;
  return static_cast<std::uint32_t>(warp.In<std::uint32_t>(in, i)[lane] + offset);
}

void Report(Warp& warp, const Instruction& in, unsigned lane, std::string_view kind,
            std::string_view what) {
  warp.cta().Report(kind, in, warp.index() * kWarpSize + lane, what);
}

bool CheckSize(Warp& warp, const Instruction& in, unsigned lane, std::uint32_t bytes) {
  if (bytes % kUnit == 0) return true;
  Report(warp, in, lane, "misaligned",
         fmt::format("copies {} bytes, which is no multiple of {}", bytes, kUnit));
  return false;
}

// The mbarrier that the load completes at, if asynchronous copies see one there.
bool CheckMbarrier(Warp& warp, const Instruction& in, unsigned lane, std::uint64_t offset) {
  Cta& cta = warp.cta();
  const bool inside = offset % kMbarrierBytes == 0 && offset < cta.shared_bytes();
  const Mbarrier* barrier = inside ? cta.mbarriers().Find(offset) : nullptr;
  if (barrier == nullptr) {
    Report(
        warp, in, lane, "mbarrier",
        fmt::format("copies for the mbarrier at shared address {:#x}, where none was initialized",
                    offset));
    return false;
  }
  if (!barrier->fenced) {
    Report(warp, in, lane, "proxy",
           fmt::format("copies for the mbarrier at {}, which was initialized with no "
                       "fence.mbarrier_init and no fence.proxy.async since",
                       cta.SharedVariable(offset)));
    return false;
  }
  constexpr AccessMode kOnMbarrier{.reads = true, .writes = true, .strong = true, .mbarrier = true};
  return ResolveIn(Space::kShared, warp, in, lane, offset, kMbarrierBytes, kOnMbarrier) != nullptr;
}

void BeginLoads(Warp& warp, const Instruction& in, Mask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    BulkLoad load;
    load.bytes = warp.In<std::uint32_t>(in, kSize)[lane];
    load.instruction = warp.cta().IndexOf(in);
    load.thread = warp.index() * kWarpSize + lane;
    load.offset = AddressAt(warp, in, kDestination, lane);
    load.mbarrier = AddressAt(warp, in, kBarrier, lane);
    if (!CheckSize(warp, in, lane, load.bytes)) return;
    if (!CheckMbarrier(warp, in, lane, load.mbarrier)) return;
    if (load.bytes == 0) continue;
    load.source = ResolveIn(Space::kGlobal, warp, in, lane, AddressAt(warp, in, kSource, lane),
                            load.bytes, kAsyncRead);
    if (load.source == nullptr) return;
    if (ResolveIn(Space::kShared, warp, in, lane, load.offset, load.bytes, kAsyncWrite) ==
        nullptr) {
      return;
    }
    warp.cta().bulk_copies().BeginLoad(load);
  }
}

void BeginStores(Warp& warp, const Instruction& in, Mask mask) {
  BulkCopies& copies = warp.cta().bulk_copies();
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    BulkStore store;
    store.bytes = warp.In<std::uint32_t>(in, kSize)[lane];
    store.instruction = warp.cta().IndexOf(in);
    store.thread = warp.index() * kWarpSize + lane;
    store.offset = AddressAt(warp, in, kSource, lane);
    if (!CheckSize(warp, in, lane, store.bytes)) return;
    if (store.bytes == 0) continue;
    const std::byte* source =
        ResolveIn(Space::kShared, warp, in, lane, store.offset, store.bytes, kAsyncRead);
    if (source == nullptr) return;
    const std::uint64_t address = AddressAt(warp, in, kDestination, lane);
    store.destination =
        ResolveIn(Space::kGlobal, warp, in, lane, address, store.bytes, kAsyncWrite);
    if (store.destination == nullptr) return;
    if (!copies.HasRoomForStore()) {
      return Report(warp, in, lane, "async",
                    fmt::format("begins a copy while {} others are pending; does nobody wait?",
                                BulkCopies::kMaxStores));
    }
    const Allocation* allocation = warp.cta().memory().Find(address);
    store.initialized = allocation->initialized;
    store.place = address - allocation->address;
    store.data.assign(source, source + store.bytes);
    copies.BeginStore(std::move(store));
  }
}

void CommitGroup(Warp& warp, const Instruction&, Mask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    warp.cta().bulk_copies().Commit(warp.index() * kWarpSize + lane);
  }
}

// `immediate` is the number of groups that may stay; `vector` is 1 with .read.
void WaitGroup(Warp& warp, const Instruction& in, Mask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    warp.cta().bulk_copies().Wait(warp.index() * kWarpSize + lane,
                                  static_cast<std::uint64_t>(in.immediate), in.vector == 1);
  }
}

void TakePlace(InstructionBuilder& b, Place place, Space space) {
  b.out().address_is_32 = false;
  b.Address(space);
  if (b.out().address_is_32) {
    b.out().vector = static_cast<std::uint8_t>(b.out().vector | 1u << place);
  }
  b.Constant(static_cast<std::uint64_t>(b.out().immediate), 64);
}

void DecodePrefetchBulk(InstructionBuilder& b) {
  if (b.Of(Category::kLevel) != Modifier::kL2 || b.Of(Category::kSpace) != Modifier::kGlobal) {
    b.Fail("prefetches to '.L2' from '.global'");
  }
  b.Address(Space::kGlobal);
  b.Source(Type::kB32);
  if (b.Has(Category::kCacheHint)) b.Source(Type::kB64);
  b.Execute([](Warp&, const Instruction&, Mask) {});
}

void DecodeBulk(InstructionBuilder& b) {
  const Space to = SpaceOf(b.Of(Category::kSpace));
  const Space from = SpaceOf(b.Of(Category::kSourceSpace));
  const Modifier completion = b.Of(Category::kCompletion);
  const bool loads =
      to == Space::kShared && from == Space::kGlobal && completion == Modifier::kCompleteTxBytes;
  const bool stores = to == Space::kGlobal &&
                      b.Of(Category::kSourceSpace) == Modifier::kSharedCta &&
                      completion == Modifier::kBulkGroup;
  if (!loads && !stores) {
    return b.Fail(
        "copies '.shared::{cta, cluster}.global.mbarrier::complete_tx::bytes' or "
        "'.global.shared::cta.bulk_group'");
  }
  b.out().vector = 0;
  TakePlace(b, kDestination, to);
  TakePlace(b, kSource, from);
  b.Source(Type::kB32);
  if (loads) TakePlace(b, kBarrier, Space::kShared);
  if (b.Has(Category::kCacheHint)) b.Source(Type::kB64);
  b.Execute(loads ? &BeginLoads : &BeginStores);
}

}  // namespace

void DecodeBulkCopy(InstructionBuilder& b) {
  switch (b.Of(Category::kAsyncGroup)) {
    case Modifier::kCommitGroup:
      return b.Execute(&CommitGroup);
    case Modifier::kWaitGroup:
      b.out().immediate = static_cast<std::int64_t>(b.IntegerOperand());
      b.out().vector = b.Has(Category::kRead) ? 1 : 0;
      return b.Execute(&WaitGroup);
    case Modifier::kNone:
      return b.Has(Category::kPrefetch) ? DecodePrefetchBulk(b) : DecodeBulk(b);
    default:
      return b.Fail("is no known form of cp.async.bulk");
  }
}

}  // namespace lijit::emulator

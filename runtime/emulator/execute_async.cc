// SPDX-License-Identifier: Apache-2.0
// cp.async and its groups (PTX ISA, "Data Movement and Conversion Instructions: Asynchronous
// copy"). See async_copy.h for when the bytes move.
#include <fmt/format.h>

#include <bit>

#include "runtime/emulator/async_copy.h"
#include "runtime/emulator/cta.h"
#include "runtime/emulator/host_memory.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"
#include "runtime/emulator/memory_access.h"

namespace lijit::emulator {
namespace {

constexpr AccessMode kAsyncWrite{false, true, false, true};

// Operands: the destination, the source, the offset of the destination, and the source's bytes, or
// a predicate that says that there are none. `vector` is the bytes of the destination,
// register_bits the width of its address, `immediate` the offset of the source.
constexpr unsigned kDestination = 0;
constexpr unsigned kSource = 1;
constexpr unsigned kOffset = 2;
constexpr unsigned kSourceBytes = 3;

std::uint64_t DestinationOf(const Warp& warp, const Instruction& in, unsigned lane) {
  const std::uint64_t offset = warp.In<std::uint64_t>(in, kOffset)[lane];
  if (in.register_bits == 64) return warp.In<std::uint64_t>(in, kDestination)[lane] + offset;
  const std::uint32_t base = warp.In<std::uint32_t>(in, kDestination)[lane];
  return static_cast<std::uint32_t>(base + offset);
}

// Reads `bytes`, at most those of the whole copy. False after a finding.
bool ReadSource(Warp& warp, const Instruction& in, unsigned lane, std::uint32_t bytes,
                AsyncCopy& copy) {
  const std::uint64_t address = AddressOf(warp, in, kSource, lane);
  if (bytes != 0 && !IsAligned(address, copy.bytes)) {
    return Resolve(warp, in, lane, address, copy.bytes, kPlainRead) != nullptr;
  }
  for (std::uint32_t done = 0; done < bytes;) {
    const std::uint32_t part = std::bit_floor(bytes - done);  // so that every part is aligned
    const std::byte* place = Resolve(warp, in, lane, address + done, part, kPlainRead);
    if (place == nullptr) return false;
    for (std::uint32_t i = 0; i < part; ++i)
      copy.data[done + i] = LoadRelaxed<std::uint8_t>(place + i);
    done += part;
  }
  return true;
}

// The bytes of the source that the lane copies; the rest of the destination becomes zero.
template <bool kByPredicate>
std::uint32_t SourceBytes(const Warp& warp, const Instruction& in, unsigned lane) {
  if constexpr (kByPredicate) {
    return (warp.PredicateIn(in, kSourceBytes) >> lane & 1) != 0 ? 0 : in.vector;
  } else {
    return warp.In<std::uint32_t>(in, kSourceBytes)[lane];
  }
}

template <bool kByPredicate>
void BeginCopies(Warp& warp, const Instruction& in, Mask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const unsigned thread = warp.index() * kWarpSize + lane;
    AsyncCopy copy;
    copy.bytes = in.vector;
    copy.instruction = warp.cta().IndexOf(in);
    const std::uint32_t bytes = SourceBytes<kByPredicate>(warp, in, lane);
    if (bytes > copy.bytes) {
      warp.cta().Report("out-of-bounds", in, thread,
                        fmt::format("copies {} bytes to {} bytes", bytes, copy.bytes));
      return;
    }
    if (!ReadSource(warp, in, lane, bytes, copy)) return;
    copy.offset = DestinationOf(warp, in, lane);
    if (ResolveIn(Space::kShared, warp, in, lane, copy.offset, copy.bytes, kAsyncWrite) ==
        nullptr) {
      return;
    }
    warp.cta().async_copies().Begin(thread, copy);
  }
}

void StoreCopy(Cta& cta, unsigned thread, const AsyncCopy& copy) {
  std::byte* place = cta.shared() + copy.offset;
  for (std::uint32_t i = 0; i < copy.bytes; ++i) StoreRelaxed(place + i, copy.data[i]);
  cta.shared_initialized().Mark(copy.offset, copy.bytes);
  cta.NoteSharedWrite(copy.offset, copy.bytes);
  // For the accesses that follow. None came in between: the bytes were nobody's.
  cta.races().Access(copy.offset, copy.bytes, AccessKind::kWrite, thread, copy.instruction);
}

void CommitGroup(Warp& warp, const Instruction&, Mask mask) {
  AsyncCopies& copies = warp.cta().async_copies();
  for (; mask != 0; mask &= mask - 1) {
    copies.Commit(warp.index() * kWarpSize + static_cast<unsigned>(std::countr_zero(mask)));
  }
}

// `immediate` is the number of groups that may stay.
void WaitGroup(Warp& warp, const Instruction& in, Mask mask) {
  Cta& cta = warp.cta();
  for (; mask != 0; mask &= mask - 1) {
    const unsigned thread =
        warp.index() * kWarpSize + static_cast<unsigned>(std::countr_zero(mask));
    cta.async_copies().Wait(thread, static_cast<std::uint64_t>(in.immediate),
                            [&](const AsyncCopy& copy) { StoreCopy(cta, thread, copy); });
  }
}

void WaitAll(Warp& warp, const Instruction& in, Mask mask) {
  CommitGroup(warp, in, mask);
  WaitGroup(warp, in, mask);
}

void TakeAddresses(InstructionBuilder& b) {
  b.Address(Space::kShared);
  const std::int64_t offset = b.out().immediate;
  b.out().register_bits = b.out().address_is_32 ? 32 : 64;
  b.out().address_is_32 = false;
  b.Address(Space::kGlobal);
  b.Constant(static_cast<std::uint64_t>(offset), 64);
}

// The bytes of the source are all, if nothing is said.
Handler TakeSourceBytes(InstructionBuilder& b, std::uint64_t bytes) {
  const Operand* operand = b.Peek();
  if (b.remaining() == (b.Has(Category::kCacheHint) ? 1 : 0)) {
    b.Constant(bytes, 32);
    return &BeginCopies<false>;
  }
  if (operand->kind == Operand::Kind::kRegister && b.RegisterBits(*operand) == 1) {
    b.PredicateSource();
    return &BeginCopies<true>;
  }
  b.Source(Type::kU32);
  return &BeginCopies<false>;
}

void DecodeCopy(InstructionBuilder& b) {
  const Modifier cache = b.Of(Category::kCache);
  if (cache != Modifier::kCa && cache != Modifier::kCg) b.Fail("needs '.ca' or '.cg'");
  if (SpaceOf(b.Of(Category::kSpace)) != Space::kShared ||
      b.Of(Category::kSourceSpace) != Modifier::kGlobal) {
    b.Fail("copies to '.shared' from '.global'");
  }
  TakeAddresses(b);
  const std::uint64_t bytes = b.IntegerOperand();
  const bool fits = bytes == 16 || (cache == Modifier::kCa && (bytes == 4 || bytes == 8));
  if (!fits) b.Fail("copies 16 bytes, or with '.ca' 4 or 8");
  b.out().vector = static_cast<std::uint8_t>(bytes);
  b.Execute(TakeSourceBytes(b, bytes));
  if (b.Has(Category::kCacheHint)) b.Source(Type::kB64);
}

}  // namespace

void DecodeCpAsync(InstructionBuilder& b) {
  if (!b.Has(Category::kAsync)) b.Fail("needs '.async'");
  if (b.Has(Category::kBulk)) return DecodeBulkCopy(b);
  switch (b.Of(Category::kAsyncGroup)) {
    case Modifier::kCommitGroup:
      return b.Execute(&CommitGroup);
    case Modifier::kWaitGroup:
      b.out().immediate = static_cast<std::int64_t>(b.IntegerOperand());
      return b.Execute(&WaitGroup);
    case Modifier::kWaitAll:
      return b.Execute(&WaitAll);
    default:
      return DecodeCopy(b);
  }
}

}  // namespace lijit::emulator

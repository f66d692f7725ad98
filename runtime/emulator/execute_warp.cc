// SPDX-License-Identifier: Apache-2.0
// Instructions through which the threads of a warp talk (PTX ISA, "Parallel Synchronization and
// Communication Instructions"). Their last operand is the member mask; when a handler runs, all
// live members are there.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "runtime/emulator/cta.h"
#include "runtime/emulator/instruction_builder.h"
#include "runtime/emulator/lanes.h"

namespace lijit::emulator {
namespace {

// Calls f(members) for each set of threads in `mask` that have the same member mask.
template <typename F>
void ForEachTeam(Warp& warp, const Instruction& in, Mask mask, F f) {
  const auto* members = warp.In<Mask>(in, in.operand_count - 1u);
  while (mask != 0) {
    const Mask team = mask & members[std::countr_zero(mask)];
    f(team);
    mask &= ~team;
  }
}

struct ShuffleSource {
  unsigned lane;
  bool in_range;
};

ShuffleSource SourceLane(Modifier mode, unsigned lane, std::uint32_t b, std::uint32_t c) {
  const unsigned offset = b & 31;
  const unsigned segment = c >> 8 & 31;
  const unsigned last = (lane & segment) | (c & 31 & ~segment);
  const int own = static_cast<int>(lane);
  int source = own;
  switch (mode) {
    case Modifier::kUp:
      source = own - static_cast<int>(offset);
      break;
    case Modifier::kDown:
      source = own + static_cast<int>(offset);
      break;
    case Modifier::kBfly:
      source = static_cast<int>(lane ^ offset);
      break;
    default:
      source = static_cast<int>((lane & segment) | (offset & ~segment));
      break;
  }
  const int limit = static_cast<int>(last);
  const bool in_range = mode == Modifier::kUp ? source >= limit : source <= limit;
  return {in_range ? static_cast<unsigned>(source) : lane, in_range};
}

// Operands: d, p, a, b, c, members.
void Shuffle(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint32_t>(in, 0);
  const auto* a = warp.In<std::uint32_t>(in, 2);
  const auto* b = warp.In<std::uint32_t>(in, 3);
  const auto* c = warp.In<std::uint32_t>(in, 4);
  std::uint32_t values[kWarpSize];
  Mask in_range = 0;
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const ShuffleSource source = SourceLane(in.operation, lane, b[lane], c[lane]);
    if ((mask >> source.lane & 1) == 0) {
      warp.cta().Report("divergence", in, warp.index() * kWarpSize + lane,
                        fmt::format("reads from lane {}, which does not take part", source.lane));
      return;
    }
    values[lane] = a[source.lane];
    in_range |= Mask{source.in_range} << lane;
  }
  ForLanes(mask, [&](unsigned lane) { d[lane] = values[lane]; });
  warp.PredicateOut(in, 1, mask, in_range);
}

// Operands: d, a, members.
void Ballot(Warp& warp, const Instruction& in, Mask mask) {
  const Mask votes = warp.PredicateIn(in, 1);
  auto* d = warp.Out<std::uint32_t>(in, 0);
  ForEachTeam(warp, in, mask,
              [&](Mask team) { ForLanes(team, [=](unsigned lane) { d[lane] = votes & team; }); });
}

void Vote(Warp& warp, const Instruction& in, Mask mask) {
  const Mask votes = warp.PredicateIn(in, 1);
  Mask result = 0;
  ForEachTeam(warp, in, mask, [&](Mask team) {
    const bool all = (votes & team) == team;
    const bool any = (votes & team) != 0;
    const bool holds = in.operation == Modifier::kAll   ? all
                       : in.operation == Modifier::kAny ? any
                                                        : all || !any;  // .uni
    if (holds) result |= team;
  });
  warp.PredicateOut(in, 0, mask, result);
}

float ExtremeFloat(const Instruction& in, float a, float b) {
  if (std::isnan(a) || std::isnan(b)) {
    if (in.propagate_nan || (std::isnan(a) && std::isnan(b)))
      return std::bit_cast<float>(0x7fffffff);
    return std::isnan(a) ? b : a;
  }
  const bool a_less = a < b || (a == b && std::signbit(a));
  return a_less == (in.operation == Modifier::kMin) ? a : b;
}

std::uint32_t Reduce(const Instruction& in, std::uint32_t a, std::uint32_t b) {
  if (in.type == Type::kF32) {
    return std::bit_cast<std::uint32_t>(
        ExtremeFloat(in, std::bit_cast<float>(a), std::bit_cast<float>(b)));
  }
  // Flipping the sign bit makes signed order unsigned order.
  const std::uint32_t flip = IsSigned(in.type) ? 0x80000000 : 0;
  const bool a_less = (a ^ flip) < (b ^ flip);
  switch (in.operation) {
    case Modifier::kAdd:
      return a + b;
    case Modifier::kMin:
      return a_less ? a : b;
    case Modifier::kMax:
      return a_less ? b : a;
    case Modifier::kAnd:
      return a & b;
    case Modifier::kOr:
      return a | b;
    default:
      return a ^ b;
  }
}

// Operands: d, a, members.
void ReduceTeam(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint32_t>(in, 0);
  const auto* a = warp.In<std::uint32_t>(in, 1);
  const std::uint32_t keep = in.absolute ? 0x7fffffff : 0xffffffff;
  ForEachTeam(warp, in, mask, [&](Mask team) {
    std::uint32_t total = a[std::countr_zero(team)] & keep;
    for (Mask rest = team & (team - 1); rest != 0; rest &= rest - 1) {
      total = Reduce(in, total, a[std::countr_zero(rest)] & keep);
    }
    ForLanes(team, [=](unsigned lane) { d[lane] = total; });
  });
}

// Operands: d, p, a, members.
template <typename T>
void Match(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<Mask>(in, 0);
  const T* a = warp.In<T>(in, 2);
  const bool all = in.operation == Modifier::kAll;
  Mask result = 0;
  Mask values[kWarpSize];
  ForEachTeam(warp, in, mask, [&](Mask team) {
    for (Mask rest = team; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      Mask equal = 0;
      for (Mask others = team; others != 0; others &= others - 1) {
        const auto other = static_cast<unsigned>(std::countr_zero(others));
        equal |= Mask{a[other] == a[lane]} << other;
      }
      values[lane] = all && equal != team ? 0 : equal;
      if (equal == team) result |= Mask{1} << lane;
    }
  });
  ForLanes(mask, [&](unsigned lane) { d[lane] = values[lane]; });
  warp.PredicateOut(in, 1, mask, result);
}

// Operands: d, p, members. The lowest thread is elected.
void Elect(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint32_t>(in, 0);
  Mask leaders = 0;
  ForEachTeam(warp, in, mask, [&](Mask team) {
    const auto leader = static_cast<std::uint32_t>(std::countr_zero(team));
    leaders |= Mask{1} << leader;
    ForLanes(team, [=](unsigned lane) { d[lane] = leader; });
  });
  warp.PredicateOut(in, 1, mask, leaders);
}

void ActiveMask(Warp& warp, const Instruction& in, Mask mask) {
  auto* d = warp.Out<std::uint32_t>(in, 0);
  ForLanes(mask, [=](unsigned lane) { d[lane] = mask; });
}

// Takes the member mask, and makes the instruction one that waits for the members.
void Synchronizes(InstructionBuilder& b, Handler handler) {
  if (!b.Has(Category::kSync)) b.Fail("needs '.sync'");
  b.Source(Type::kB32);
  b.out().action = Action::kWarpSync;
  b.Execute(handler);
}

}  // namespace

void DecodeShfl(InstructionBuilder& b) {
  if (!b.Has(Category::kShuffle)) b.Fail("needs '.up', '.down', '.bfly' or '.idx'");
  b.out().operation = b.Of(Category::kShuffle);
  b.Destination(Type::kB32);
  b.SecondDestination(Type::kPred);
  for (int i = 0; i < 3; ++i) b.Source(Type::kB32);
  Synchronizes(b, &Shuffle);
}

void DecodeVote(InstructionBuilder& b) {
  const bool ballot = b.Of(Category::kVote) == Modifier::kBallot;
  if (b.Has(Category::kVote) == b.Has(Category::kUniform)) {
    b.Fail("needs '.all', '.any', '.uni' or '.ballot'");
  }
  if (ballot != (b.LastType() == Type::kB32)) b.Fail("'.ballot' has type .b32, the rest .pred");
  b.out().operation = b.Of(Category::kVote);
  b.Destination(b.LastType());
  b.PredicateSource();
  Synchronizes(b, ballot ? &Ballot : &Vote);
}

void DecodeRedux(InstructionBuilder& b) {
  const Modifier operation = b.Of(Category::kOperation);
  const Type type = b.LastType();
  const bool extreme = operation == Modifier::kMin || operation == Modifier::kMax;
  const bool logic =
      operation == Modifier::kAnd || operation == Modifier::kOr || operation == Modifier::kXor;
  const bool fits = type == Type::kB32   ? logic
                    : type == Type::kF32 ? extreme
                                         : extreme || operation == Modifier::kAdd;
  if (!fits) b.Fail("needs an operation that its type has");
  if (type != Type::kF32 && (b.Has(Category::kAbs) || b.Has(Category::kNan))) {
    b.Fail("'.abs' and '.NaN' are for .f32");
  }
  b.out().operation = operation;
  b.out().absolute = b.Has(Category::kAbs);
  b.out().propagate_nan = b.Has(Category::kNan);
  b.Destination(type);
  b.Source(type);
  Synchronizes(b, &ReduceTeam);
}

void DecodeMatch(InstructionBuilder& b) {
  const Modifier mode = b.Of(Category::kVote);
  if (mode != Modifier::kAll && mode != Modifier::kAny) b.Fail("needs '.all' or '.any'");
  b.out().operation = mode;
  b.Destination(Type::kB32);
  b.SecondDestination(Type::kPred);
  b.Source(b.LastType());
  Synchronizes(b, Bits(b.LastType()) == 32 ? &Match<std::uint32_t> : &Match<std::uint64_t>);
}

void DecodeElect(InstructionBuilder& b) {
  b.Destination(Type::kB32);
  b.SecondDestination(Type::kPred);
  Synchronizes(b, &Elect);
}

void DecodeActivemask(InstructionBuilder& b) {
  b.Destination(Type::kB32);
  b.Execute(&ActiveMask);
}

void DecodeWarpBarrier(InstructionBuilder& b) { Synchronizes(b, nullptr); }

}  // namespace lijit::emulator

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/entry_interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/ir/evaluate_codes.h"
#include "compiler/support/float_text.h"

namespace lijit::tests {
namespace {

using ir::AttributeKey;
using ir::Op;
using ir::OpCode;
using ir::ValueId;

using Lanes = std::vector<std::uint64_t>;  // a value in each thread
using Mask = std::vector<std::uint8_t>;    // 1 for the threads that take part

constexpr std::size_t kWarp = 32;

std::size_t MemoryBytes(ir::Memory memory) {
  switch (memory) {
    case ir::Memory::kU8:
      return 1;
    case ir::Memory::kU16:
      return 2;
    case ir::Memory::kI64:
      return 8;
    default:
      return 4;
  }
}

// The codes of a conversion that some targets have, and their bits.
const ir::ElementCodes& CodesOf(OpCode code) {
  static const ir::ElementCodes e4m3(ir::E4m3());
  static const ir::ElementCodes e2m1({.exponent = 2, .mantissa = 1, .bias = 1, .nan = 0x7});
  return code == OpCode::kCvtE4m3x2 || code == OpCode::kCvtFromE4m3x2 ? e4m3 : e2m1;
}
int BitsOf(OpCode code) {
  return code == OpCode::kCvtE4m3x2 || code == OpCode::kCvtFromE4m3x2 ? 8 : 4;
}

class BlockInterpreter {
 public:
  BlockInterpreter(const ir::Kernel& entry, std::span<const EntryArgument> arguments,
                   std::uint32_t block, std::uint32_t blocks)
      : entry_(entry),
        arguments_(arguments),
        block_(block),
        blocks_(blocks),
        threads_(static_cast<std::size_t>(entry.threads)),
        values_(entry.values.size()),
        shared_(static_cast<std::size_t>(entry.shared_bytes)) {}

  Status Run() {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const ValueId id = entry_.body.arguments[i];
      // A pointer's value is the index of its argument.
      const bool pointer = entry_.TypeOf(id).IsScalar(ir::Scalar::kPtr);
      Of(id).assign(threads_, pointer ? i : std::get<std::uint64_t>(arguments_[i]));
    }
    Run(entry_.body, Mask(threads_, 1));
    return status_;
  }

 private:
  Lanes& Of(ValueId id) {
    Lanes& lanes = values_[static_cast<std::size_t>(id)];
    lanes.resize(threads_);
    return lanes;
  }
  Lanes& Operand(const Op& op, std::size_t index) { return Of(op.operands[index]); }

  template <typename F>
  void ForThreads(const Mask& mask, const F& f) {
    for (std::size_t t = 0; t < threads_; ++t) {
      if (mask[t]) f(t);
    }
  }

  void Fail(const Op& op, std::string_view why) {
    if (status_.ok()) status_ = Failed(fmt::format("{}: {}", ir::RowOf(op.code).mnemonic, why));
  }

  void Run(const ir::Block& block, const Mask& mask) {
    for (const Op& op : block.ops) {
      if (!status_.ok() || op.code == OpCode::kYield) return;
      RunOp(op, mask);
    }
  }

  void RunOp(const Op& op, const Mask& mask) {
    switch (op.code) {
      case OpCode::kConst: {
        const bool wide = entry_.TypeOf(op.results[0]).IsScalar(ir::Scalar::kI64);
        return SetAll(op, mask, wide ? op.constant : op.constant & 0xffffffff);
      }
      case OpCode::kThreadId: {
        Lanes& out = Of(op.results[0]);
        return ForThreads(mask, [&](std::size_t t) { out[t] = t; });
      }
      case OpCode::kBlockId:
        return SetAll(op, mask, block_);
      case OpCode::kBlockCount:
        return SetAll(op, mask, blocks_);
      case OpCode::kFor:
        return RunFor(op, mask);
      case OpCode::kIf:
        return RunIf(op, mask);
      case OpCode::kBarrier:
        if (std::find(mask.begin(), mask.end(), 0) != mask.end()) {
          Fail(op, "not all threads are here");
        }
        return;
      case OpCode::kShuffleXor:
      case OpCode::kBallot:
        return RunExchange(op, mask);
      case OpCode::kCvtE4m3x2:
      case OpCode::kCvtE2m1x2:
        return RunEncode(op, mask);
      case OpCode::kCvtFromE4m3x2:
      case OpCode::kCvtFromE2m1x2:
        return RunDecode(op, mask);
      default:
        return IsScalarOp(op.code) ? RunScalar(op, mask) : RunMemory(op, mask);
    }
  }

  void SetAll(const Op& op, const Mask& mask, std::uint64_t value) {
    Lanes& out = Of(op.results[0]);
    ForThreads(mask, [&](std::size_t t) { out[t] = value; });
  }

  void RunScalar(const Op& op, const Mask& mask) {
    const ir::Type& type = entry_.TypeOf(op.operands[0]);
    const Lanes& a = Operand(op, 0);
    const Lanes& b = op.operands.size() > 1 ? Operand(op, 1) : a;
    const Lanes& c = op.operands.size() > 2 ? Operand(op, 2) : a;
    Lanes& out = Of(op.results[0]);
    ForThreads(mask,
               [&](std::size_t t) { out[t] = InterpretScalar(op.code, type, a[t], b[t], c[t]); });
  }

  void RunEncode(const Op& op, const Mask& mask) {
    Lanes& out = Of(op.results[0]);
    const auto code = [&](std::size_t index, std::size_t t) {
      const auto bits = static_cast<std::uint32_t>(Operand(op, index)[t]);
      return CodesOf(op.code).Encode(FloatFromBits(bits));
    };
    ForThreads(mask, [&](std::size_t t) { out[t] = code(0, t) | code(1, t) << BitsOf(op.code); });
  }

  void RunDecode(const Op& op, const Mask& mask) {
    const std::uint32_t code_mask = (1u << BitsOf(op.code)) - 1;
    for (std::size_t i = 0; i < 2; ++i) {
      Lanes& out = Of(op.results[i]);
      const auto shift = static_cast<int>(i) * BitsOf(op.code);
      ForThreads(mask, [&](std::size_t t) {
        const auto codes = static_cast<std::uint32_t>(Operand(op, 0)[t]);
        out[t] = BitsOfFloat(CodesOf(op.code).Decode(codes >> shift & code_mask));
      });
    }
  }

  void RunExchange(const Op& op, const Mask& mask) {
    const Lanes in = Operand(op, 0);
    Lanes& out = Of(op.results[0]);
    for (std::size_t warp = 0; warp < threads_; warp += kWarp) {
      const auto here = std::count(mask.begin() + static_cast<std::ptrdiff_t>(warp),
                                   mask.begin() + static_cast<std::ptrdiff_t>(warp + kWarp), 1);
      if (here == 0) continue;
      if (here != std::ptrdiff_t{kWarp}) return Fail(op, "not all lanes are here");
      std::uint64_t votes = 0;
      for (std::size_t lane = 0; lane < kWarp; ++lane) votes |= in[warp + lane] << lane;
      for (std::size_t lane = 0; lane < kWarp; ++lane) {
        const auto partner = lane ^ static_cast<std::size_t>(op.Get(AttributeKey::kMask));
        out[warp + lane] = op.code == OpCode::kBallot ? votes : in[warp + partner];
      }
    }
  }

  static bool Any(const Mask& mask) { return std::find(mask.begin(), mask.end(), 1) != mask.end(); }

  // Hands a region's yielded values to `targets`, all at once.
  void Assign(const ir::Block& region, const std::vector<ValueId>& targets, const Mask& mask) {
    std::vector<Lanes> next;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      next.push_back(Of(region.ops.back().operands[i]));
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      Lanes& out = Of(targets[i]);
      ForThreads(mask, [&](std::size_t t) { out[t] = next[i][t]; });
    }
  }

  void RunIf(const Op& op, const Mask& mask) {
    const Lanes condition = Operand(op, 0);
    for (std::size_t branch = 0; branch < 2; ++branch) {
      Mask taken = mask;
      ForThreads(mask, [&](std::size_t t) { taken[t] = (condition[t] != 0) == (branch == 0); });
      if (!Any(taken)) continue;
      Run(op.regions[branch], taken);
      Assign(op.regions[branch], op.results, taken);
    }
  }

  void RunFor(const Op& op, const Mask& mask) {
    const ir::Block& region = op.regions[0];
    const ir::Type& type = entry_.TypeOf(op.operands[0]);
    const std::vector<ValueId> carried(region.arguments.begin() + 1, region.arguments.end());
    const Lanes end = Operand(op, 1);
    const Lanes step = Operand(op, 2);
    Lanes at = Operand(op, 0);
    for (std::size_t i = 0; i < carried.size(); ++i) Of(carried[i]) = Operand(op, i + 3);
    Mask active = mask;
    while (status_.ok()) {
      ForThreads(active, [&](std::size_t t) {
        active[t] = InterpretScalar(OpCode::kLt, type, at[t], end[t], 0) != 0;
      });
      if (!Any(active)) break;
      Of(region.arguments[0]) = at;
      Run(region, active);
      Assign(region, carried, active);
      ForThreads(active, [&](std::size_t t) {
        at[t] = InterpretScalar(OpCode::kAdd, type, at[t], step[t], 0);
      });
    }
    for (std::size_t i = 0; i < carried.size(); ++i) Of(op.results[i]) = Of(carried[i]);
  }

  // The bytes of one access; null after a failure.
  std::byte* Place(const Op& op, std::span<std::byte> memory, std::uint64_t at) {
    const std::size_t bytes = MemoryBytes(static_cast<ir::Memory>(op.Get(AttributeKey::kMemory)));
    if (at % bytes == 0 && at <= memory.size() && memory.size() - at >= bytes) {
      return memory.data() + at;
    }
    Fail(op, fmt::format("{} bytes at {} of {}", bytes, at, memory.size()));
    return nullptr;
  }

  std::span<std::byte> Memory(const Op& op, std::size_t argument) {
    auto* const* memory = std::get_if<std::vector<std::byte>*>(&arguments_[argument]);
    if (memory != nullptr) return **memory;
    Fail(op, "the argument is a number");
    return {};
  }

  void RunMemory(const Op& op, const Mask& mask) {
    const std::size_t bytes = MemoryBytes(static_cast<ir::Memory>(op.Get(AttributeKey::kMemory)));
    const auto load = [&](const Lanes& at, const auto& memory) {
      Lanes& out = Of(op.results[0]);
      ForThreads(mask, [&](std::size_t t) {
        out[t] = 0;
        if (const std::byte* p = Place(op, memory(t), at[t])) std::memcpy(&out[t], p, bytes);
      });
    };
    const auto store = [&](const Lanes& at, const Lanes& value, const auto& memory) {
      ForThreads(mask, [&](std::size_t t) {
        if (std::byte* p = Place(op, memory(t), at[t])) std::memcpy(p, &value[t], bytes);
      });
    };
    const auto shared = [&](std::size_t) { return std::span(shared_); };
    const auto global = [&](std::size_t t) { return Memory(op, Operand(op, 0)[t]); };
    switch (op.code) {
      case OpCode::kLoad:
        return load(Operand(op, 1), global);
      case OpCode::kStore:
        return store(Operand(op, 1), Operand(op, 2), global);
      case OpCode::kLoadShared:
        return load(Operand(op, 0), shared);
      case OpCode::kStoreShared:
        return store(Operand(op, 0), Operand(op, 1), shared);
      case OpCode::kAtomicAddShared:
        return ForThreads(mask, [&](std::size_t t) {
          std::uint32_t sum = 0;
          std::byte* p = Place(op, shared_, Operand(op, 0)[t]);
          if (p == nullptr) return;
          std::memcpy(&sum, p, sizeof sum);
          sum += static_cast<std::uint32_t>(Operand(op, 1)[t]);
          std::memcpy(p, &sum, sizeof sum);
        });
      case OpCode::kAddress: {
        // Whatever is not null; comparing addresses with one another has no meaning.
        Lanes& out = Of(op.results[0]);
        return ForThreads(mask, [&](std::size_t t) {
          const EntryArgument& argument = arguments_[Operand(op, 0)[t]];
          const auto* number = std::get_if<std::uint64_t>(&argument);
          out[t] = number != nullptr ? *number : std::uint64_t{1} << 40;
        });
      }
      default:
        return Fail(op, "not an op of entries that are lowered");
    }
  }

  const ir::Kernel& entry_;
  std::span<const EntryArgument> arguments_;
  const std::uint64_t block_;
  const std::uint64_t blocks_;
  const std::size_t threads_;
  std::vector<Lanes> values_;
  std::vector<std::byte> shared_;
  Status status_;
};

}  // namespace

Status Interpret(const ir::Kernel& entry, std::uint32_t blocks,
                 std::span<const EntryArgument> arguments) {
  LIJIT_CHECK(entry.is_entry && arguments.size() == entry.body.arguments.size());
  for (std::uint32_t block = 0; block < blocks; ++block) {
    LIJIT_TRY(BlockInterpreter(entry, arguments, block, blocks).Run());
  }
  return {};
}

}  // namespace lijit::tests

// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/memory_access.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "runtime/emulator/cta.h"

namespace lijit::emulator {
namespace {

std::string_view VerbOf(AccessMode mode) {
  if (mode.reads && mode.writes) return "updates";
  return mode.reads ? "reads" : "writes";
}

std::string_view NameOf(Space space) {
  switch (space) {
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kParam:
      return "parameter";
    default:
      return "global";
  }
}

// One access of one thread: what all the checks need to know.
class Access {
 public:
  Access(Space space, Warp& warp, const Instruction& in, unsigned lane, std::uint64_t address,
         std::uint64_t bytes, AccessMode mode)
      : warp_(warp), in_(in), lane_(lane), address_(address), bytes_(bytes), mode_(mode) {
    space_ = space == Space::kConst ? Space::kGlobal : space;
    if (space_ != Space::kGeneric) return;
    space_ = Space::kGlobal;
    if (address < kSharedWindow || address - kSharedWindow >= 3 * kWindowBytes) return;
    const std::uint64_t window = (address - kSharedWindow) / kWindowBytes;
    space_ = window == 0 ? Space::kShared : window == 1 ? Space::kLocal : Space::kParam;
    address_ = (address - kSharedWindow) % kWindowBytes;
  }

  std::byte* Resolve() {
    const std::uint64_t alignment = mode_.alignment != 0 ? mode_.alignment : bytes_;
    if (!IsAligned(address_, alignment)) {
      Report("misaligned", fmt::format("which is no multiple of {}", alignment));
      return nullptr;
    }
    switch (space_) {
      case Space::kShared:
        return InShared();
      case Space::kLocal:
        return InLocal();
      case Space::kParam:
        return InParameters();
      default:
        return InGlobal();
    }
  }

 private:
  std::byte* InGlobal() {
    const Allocation* allocation = warp_.cta().memory().Find(address_);
    if (allocation == nullptr || !allocation->Contains(address_, bytes_)) {
      Report("out-of-bounds", warp_.cta().memory().Describe(address_, bytes_));
      return nullptr;
    }
    warp_.cached_allocation = allocation;
    const std::uint64_t offset = address_ - allocation->address;
    if (!allocation->always_initialized && !CheckInitialized(allocation->initialized, offset)) {
      Report("uninitialized",
             fmt::format("{} bytes into allocation '{}' ({} bytes), where nothing was written",
                         offset, allocation->label, allocation->bytes));
      return nullptr;
    }
    return allocation->data + offset;
  }

  std::byte* InShared() {
    Cta& cta = warp_.cta();
    if (!CheckBounds(cta.shared_bytes())) return nullptr;
    if (IsTaken()) return nullptr;
    std::optional<Race> unfenced;
    if (mode_.proxy) unfenced = cta.races().Unfenced(address_, bytes_, warp_.index());
    if (!CheckInitialized(cta.shared_initialized(), address_)) {
      Report("uninitialized",
             fmt::format("in {}, where nothing was written", SharedVariable(address_)));
      return nullptr;
    }
    if (mode_.writes && !mode_.mbarrier) cta.NoteSharedWrite(address_, bytes_);
    const AccessKind kind = mode_.writes
                                ? (mode_.strong ? AccessKind::kStrongWrite : AccessKind::kWrite)
                                : (mode_.strong ? AccessKind::kStrongRead : AccessKind::kRead);
    if (const auto race = cta.races().Access(address_, bytes_, kind, Thread(), cta.IndexOf(in_))) {
      ReportRace(*race, "race", "barrier");
      return nullptr;
    }
    if (unfenced) {
      ReportRace(*unfenced, "proxy", "fence.proxy.async");
      return nullptr;
    }
    return cta.shared() + address_;
  }

  std::byte* InLocal() {
    const std::uint64_t frame = warp_.cta().kernel().local_bytes;
    if (!CheckBounds(frame)) return nullptr;
    const std::uint64_t place = lane_ * frame + address_;
    if (!CheckInitialized(warp_.local_initialized(), place)) {
      Report("uninitialized", "where nothing was written");
      return nullptr;
    }
    return warp_.local() + place;
  }

  std::byte* InParameters() {
    const auto parameters = warp_.cta().config().parameters;
    if (!CheckBounds(parameters.size())) return nullptr;
    if (mode_.writes) {
      Report("out-of-bounds", "which cannot be written");
      return nullptr;
    }
    return const_cast<std::byte*>(parameters.data()) + address_;
  }

  bool CheckBounds(std::uint64_t size) {
    if (address_ <= size && bytes_ <= size - address_) return true;
    Report("out-of-bounds", fmt::format("where there are {} bytes", size));
    return false;
  }

  // False: the access reads what nobody wrote. A write counts as initialization.
  bool CheckInitialized(InitializedBits bits, std::uint64_t place) {
    if (mode_.reads) return bits.Covers(place, bytes_);
    if (!mode_.later) bits.Mark(place, bytes_);
    return true;
  }

  std::string SharedVariable(std::uint64_t offset) const {
    return warp_.cta().SharedVariable(offset);
  }

  // True, after a finding, when the bytes belong to a pending copy or to an mbarrier.
  bool IsTaken() {
    Cta& cta = warp_.cta();
    if (cta.async_copies().Overlaps(address_, bytes_)) {
      const AsyncCopies::Pending copy = cta.async_copies().Find(address_, bytes_);
      ReportPendingCopy(copy.thread, copy.instruction);
    } else if (cta.bulk_copies().Overlaps(address_, bytes_, mode_.writes)) {
      const auto copy = cta.bulk_copies().Find(address_, bytes_, mode_.writes);
      ReportPendingCopy(copy->thread, copy->instruction);
    } else if (!mode_.mbarrier && cta.mbarriers().Overlaps(address_, bytes_)) {
      Report("mbarrier", fmt::format("in {}, which is an mbarrier", SharedVariable(address_)));
    }
    return cta.failed();
  }

  void ReportPendingCopy(unsigned thread, std::uint32_t instruction) {
    Cta& cta = warp_.cta();
    Report("async", fmt::format("in {}, where a copy that {} began at PTX line {} is pending",
                                SharedVariable(address_), cta.ThreadName(thread),
                                cta.kernel().sources[instruction].line));
  }

  void ReportRace(const Race& race, std::string_view kind, std::string_view missing) {
    const Cta& cta = warp_.cta();
    const std::string_view verb =
        race.earlier.wrote ? (race.earlier.strong ? "updated" : "wrote") : "read";
    const std::uint32_t line = cta.kernel().sources[race.earlier.instruction].line;
    Report(kind, fmt::format("in {}, which {} {} at PTX line {} with no {} in between",
                             SharedVariable(race.offset), cta.ThreadName(race.earlier.thread), verb,
                             line, missing));
  }

  void Report(std::string_view kind, std::string_view where) {
    warp_.cta().Report(kind, in_, Thread(),
                       fmt::format("{} {} bytes at {} address {:#x}, {}", VerbOf(mode_), bytes_,
                                   NameOf(space_), address_, where));
  }

  unsigned Thread() const { return warp_.index() * kWarpSize + lane_; }

  Warp& warp_;
  const Instruction& in_;
  unsigned lane_;
  std::uint64_t address_;
  std::uint64_t bytes_;
  AccessMode mode_;
  Space space_ = Space::kGlobal;
};

}  // namespace

std::byte* ResolveIn(Space space, Warp& warp, const Instruction& in, unsigned lane,
                     std::uint64_t address, std::uint64_t bytes, AccessMode mode) {
  return Access(space, warp, in, lane, address, bytes, mode).Resolve();
}

}  // namespace lijit::emulator

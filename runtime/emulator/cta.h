// SPDX-License-Identifier: Apache-2.0
// One thread block (CTA): its warps, barriers and shared memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/device.h"
#include "runtime/emulator/async_copy.h"
#include "runtime/emulator/bulk_copy.h"
#include "runtime/emulator/global_memory.h"
#include "runtime/emulator/mbarrier.h"
#include "runtime/emulator/program.h"
#include "runtime/emulator/race_check.h"
#include "runtime/emulator/warp.h"
#include "runtime/emulator/wgmma_tiles.h"

namespace lijit::emulator {

struct LaunchConfig {
  const Kernel* kernel = nullptr;
  LaunchShape shape;
  std::span<const std::byte> parameters;
  const GlobalMemory* memory = nullptr;
  std::uint64_t step_limit = 0;
};

// What the CTAs of a launch, on several host threads, share.
class LaunchState {
 public:
  std::atomic<std::uint64_t> instructions{0};
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // Stops the launch; the first finding stays.
  void Report(Finding finding);
  std::optional<Finding> TakeFinding() { return std::move(finding_); }

 private:
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::optional<Finding> finding_;
};

class Cta {
 public:
  static constexpr unsigned kBarriers = 16;

  Cta(const LaunchConfig& config, LaunchState& state);

  // Runs the CTA with this index to its end, or to a finding.
  void Run(const Dimensions& index);

  const LaunchConfig& config() const { return config_; }
  const Kernel& kernel() const { return *config_.kernel; }
  const GlobalMemory& memory() const { return *config_.memory; }
  const Dimensions& index() const { return index_; }
  unsigned threads() const { return threads_; }
  std::uint64_t shared_bytes() const { return shared_.size(); }
  std::byte* shared() { return shared_.data(); }
  InitializedBits shared_initialized() { return InitializedBits(shared_bits_.data()); }
  RaceChecker& races() { return races_; }
  AsyncCopies& async_copies() { return async_copies_; }
  BulkCopies& bulk_copies() { return bulk_copies_; }
  Mbarriers& mbarriers() { return mbarriers_; }
  WgmmaTiles& wgmma_tiles() { return *wgmma_tiles_; }
  WriteCounts& write_counts() { return write_counts_; }
  WarpgroupSteps& warpgroup_steps(unsigned i) { return warpgroup_steps_[i]; }
  // Registers a thread, by setmaxnreg; 0 before it.
  std::uint32_t& registers_of(unsigned warp) { return registers_[warp]; }
  // Bytes of shared memory were written, or are to be.
  void NoteSharedWrite(std::uint64_t offset, std::uint64_t bytes) {
    if (kernel().has_wgmma) write_counts_.Note(offset, bytes);
  }
  // Something happened that threads may wait for: what polls is not yet in a deadlock.
  void NoteProgress() { polls_without_progress_ = 0; }
  bool failed() const { return failed_; }

  // Reports a finding of an instruction and, unless `thread` is the number of threads, a thread.
  void Report(std::string_view kind, const Instruction& instruction, unsigned thread,
              std::string_view what);
  std::string ThreadName(unsigned thread) const;  // "thread (3,0,0)", or "an asynchronous copy"
  std::string SharedVariable(std::uint64_t offset) const;  // "'tile' + 12"
  std::uint32_t IndexOf(const Instruction& instruction) const {
    return static_cast<std::uint32_t>(&instruction - kernel().code.data());
  }
  const Source& SourceOf(const Instruction& instruction) const {
    return kernel().sources[IndexOf(instruction)];
  }

  // Lanes of `warp` arrive at a barrier that `expected` threads take part in (0: all of the CTA).
  // The threads go on once all have arrived, except for kArrive, which never waits.
  void Arrive(const Instruction& instruction, Warp& warp, Mask lanes, std::uint32_t barrier,
              std::uint32_t expected, Mask predicate);

 private:
  struct Barrier {
    std::uint32_t expected = 0;  // 0: nobody has arrived
    std::uint32_t arrived = 0;
    std::uint32_t true_count = 0;
    std::uint32_t voters = 0;
    Mask warps = 0;  // that wait
    VectorClock met{};
  };

  void Start(const Dimensions& index);
  bool RunRound();  // false: no warp could run
  bool Done() const;
  void Complete(const Instruction& instruction, std::uint32_t barrier);
  bool ExpirePhaseWaits();
  void Finish();
  void CheckWarpgroups();
  void CheckRegisters();
  void ReportDeadlock();
  std::string DescribeWaiting();

  const LaunchConfig& config_;
  LaunchState& state_;
  unsigned threads_;
  Dimensions index_{};
  std::vector<Warp> warps_;
  std::vector<std::byte> shared_;
  std::vector<std::uint8_t> shared_bits_;
  RaceChecker races_;
  AsyncCopies async_copies_;
  BulkCopies bulk_copies_;
  Mbarriers mbarriers_;
  std::unique_ptr<WgmmaTiles> wgmma_tiles_;  // of kernels with wgmma
  WriteCounts write_counts_;
  std::array<std::uint32_t, kMaxWarps> registers_{};
  std::array<WarpgroupSteps, kMaxWarps / kGroupWarps> warpgroup_steps_;
  unsigned polls_without_progress_ = 0;
  std::array<Barrier, kBarriers> barriers_{};
  bool failed_ = false;
};

}  // namespace lijit::emulator

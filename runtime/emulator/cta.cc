// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/cta.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "runtime/emulator/phase_wait.h"

namespace lijit::emulator {
namespace {

// Instructions a warp runs before the next warp's turn: large, because turns cost time; not
// endless, because a warp may poll for what another one writes.
constexpr std::uint64_t kQuantum = 1 << 14;

// How often all threads of a block may poll mbarriers in vain before that is taken for endless:
// more often than once, because a thread may do something for others between two polls.
constexpr unsigned kMaxPolls = 1 << 10;

constexpr std::uint32_t kRegisterFile = 1 << 16;  // of a multiprocessor

unsigned ThreadCount(const LaunchShape& shape) {
  return shape.block[0] * shape.block[1] * shape.block[2];
}

}  // namespace

void LaunchState::Report(Finding finding) {
  const std::lock_guard lock(mutex_);
  if (!finding_) finding_ = std::move(finding);
  stopped_.store(true, std::memory_order_relaxed);
}

Cta::Cta(const LaunchConfig& config, LaunchState& state)
    : config_(config), state_(state), threads_(ThreadCount(config.shape)) {
  const unsigned warps = (threads_ + kWarpSize - 1) / kWarpSize;
  warps_.reserve(warps);
  for (unsigned i = 0; i < warps; ++i) warps_.emplace_back(*this, i);
  shared_.resize(config.kernel->static_shared_bytes + config.shape.dynamic_shared_bytes);
  shared_bits_.resize(shared_.size() / 8 + 1);
  if (config.kernel->has_wgmma) wgmma_tiles_ = std::make_unique<WgmmaTiles>();
}

void Cta::Start(const Dimensions& index) {
  index_ = index;
  barriers_.fill(Barrier{});
  std::fill(shared_bits_.begin(), shared_bits_.end(), std::uint8_t{0});
  races_.StartBlock(shared_.size(), static_cast<unsigned>(warps_.size()));
  async_copies_.StartBlock(shared_.size(), threads_);
  bulk_copies_.StartBlock(shared_.size(), threads_);
  mbarriers_.StartBlock(shared_.size());
  if (kernel().has_wgmma) {
    wgmma_tiles_->StartBlock();
    write_counts_.StartBlock(shared_.size());
  }
  warpgroup_steps_.fill({});
  registers_.fill(0);
  polls_without_progress_ = 0;
  for (Warp& warp : warps_) warp.Start(threads_ - warp.index() * kWarpSize);
}

void Cta::Run(const Dimensions& index) {
  Start(index);
  while (!failed_ && !state_.stopped() && !Done()) {
    if (RunRound() || ExpirePhaseWaits()) continue;
    ReportDeadlock();
    LIJIT_CHECK(failed_);
  }
  if (!failed_ && !state_.stopped()) Finish();
}

// What the block leaves behind.
void Cta::Finish() {
  if (const auto copy = bulk_copies_.Any()) {
    Report("async", kernel().code[copy->instruction], copy->thread,
           "begins a copy that is still pending when its block exits");
  }
  bulk_copies_.FinishStores();
  CheckWarpgroups();
  CheckRegisters();
}

void Cta::CheckWarpgroups() {
  for (unsigned i = 0; i < warpgroup_steps_.size(); ++i) {
    if (warpgroup_steps_[i].AllTookTheSame()) continue;
    const Instruction& next = kernel().code[warpgroup_steps_[i].Next().instruction];
    Report("divergence", next, i * kGroupWarps * kWarpSize,
           "is in a warpgroup of which not all warps have executed this");
  }
}

// What setmaxnreg left to all warps must have been there: what the launch gave, at most.
void Cta::CheckRegisters() {
  const auto warps = static_cast<std::uint32_t>(warps_.size());
  const std::uint32_t launched = kRegisterFile / (warps * kWarpSize) / 8 * 8;
  std::uint32_t total = 0;
  for (unsigned i = 0; i < warps; ++i) total += registers_[i] != 0 ? registers_[i] : launched;
  if (total <= launched * warps) return;
  const auto last = std::find_if(kernel().code.begin(), kernel().code.end(),
                                 [](const Instruction& in) { return in.sets_registers; });
  LIJIT_CHECK(last != kernel().code.end());
  Report("registers", *last, 0,
         fmt::format("is in a block whose warps together ask for {} registers a lane; a launch of "
                     "{} warps has at most {}",
                     total, warps, launched * warps));
}

// Threads that wait for a phase poll it, in truth: when no other can run, they may find that it is
// not complete and do something else. False when that has not helped.
bool Cta::ExpirePhaseWaits() {
  if (++polls_without_progress_ > kMaxPolls) return false;
  bool expired = false;
  for (Warp& warp : warps_) expired |= warp.ExpirePhaseWaits();
  return expired;
}

bool Cta::Done() const {
  return std::all_of(warps_.begin(), warps_.end(),
                     [](const Warp& warp) { return warp.live() == 0; });
}

bool Cta::RunRound() {
  bool ran = false;
  for (Warp& warp : warps_) {
    if (!warp.CanRun()) continue;
    ran = true;
    const std::uint64_t executed = warp.Run(kQuantum);
    const std::uint64_t before = state_.instructions.fetch_add(executed);
    if (failed_ || state_.stopped()) return true;
    if (before + executed > config_.step_limit) {
      warp.ReportHere("step-limit", fmt::format("the launch has executed more than {} "
                                                "thread-instructions; does this loop end?",
                                                config_.step_limit));
      return true;
    }
  }
  return ran;
}

std::string Cta::SharedVariable(std::uint64_t offset) const {
  for (const NamedRange& variable : kernel().shared_variables) {
    if (offset >= variable.offset && offset - variable.offset < variable.bytes) {
      return fmt::format("'{}' + {}", variable.name, offset - variable.offset);
    }
  }
  return fmt::format("dynamic shared memory + {}", offset - kernel().static_shared_bytes);
}

std::string Cta::ThreadName(unsigned thread) const {
  if (thread == kAsyncThread) return "an asynchronous copy";
  const auto [x, y, z] = config_.shape.block;
  return fmt::format("thread ({},{},{})", thread % x, thread / x % y, thread / x / y);
}

void Cta::Report(std::string_view kind, const Instruction& instruction, unsigned thread,
                 std::string_view what) {
  if (failed_) return;
  failed_ = true;
  const Source& source = SourceOf(instruction);
  state_.Report({std::string(kind),
                 fmt::format("{}: kernel '{}', PTX line {} ({}): {} of block ({},{},{}) {}", kind,
                             kernel().name, source.line, source.name, ThreadName(thread), index_[0],
                             index_[1], index_[2], what)});
}

void Cta::Arrive(const Instruction& instruction, Warp& warp, Mask lanes, std::uint32_t barrier,
                 std::uint32_t expected, Mask predicate) {
  const unsigned thread = warp.index() * kWarpSize + static_cast<unsigned>(std::countr_zero(lanes));
  if (barrier >= kBarriers) {
    Report("divergence", instruction, thread,
           fmt::format("uses barrier {}; there are {}", barrier, kBarriers));
    return;
  }
  if (expected % kWarpSize != 0) {
    Report("divergence", instruction, thread,
           fmt::format("expects {} threads at barrier {}; the number must be a multiple of {}",
                       expected, barrier, kWarpSize));
    return;
  }
  auto arriving = static_cast<std::uint32_t>(std::popcount(lanes));
  if (expected == 0) {
    expected = threads_;
  } else if ((lanes & 1) != 0) {
    // Counts are of whole warps: the threads that a last warp lacks arrive with its first one.
    arriving += kWarpSize - static_cast<std::uint32_t>(std::popcount(warp.present()));
  }
  Barrier& state = barriers_[barrier];
  if (state.expected != 0 && state.expected != expected) {
    Report("divergence", instruction, thread,
           fmt::format("expects {} threads at barrier {}, where others expect {}", expected,
                       barrier, state.expected));
    return;
  }
  state.expected = expected;
  state.arrived += arriving;
  state.true_count += static_cast<std::uint32_t>(std::popcount(predicate));
  state.voters += static_cast<std::uint32_t>(std::popcount(lanes));
  races_.Arrive(warp.index(), state.met);
  if (instruction.barrier != BarrierForm::kArrive) state.warps |= Mask{1} << warp.index();
  if (state.arrived > expected) {
    Report("divergence", instruction, thread,
           fmt::format("is one of {} threads at barrier {}, which is for {}", state.arrived,
                       barrier, expected));
  } else if (state.arrived == expected) {
    Complete(instruction, barrier);
  }
}

void Cta::Complete(const Instruction& instruction, std::uint32_t barrier) {
  NoteProgress();
  const Barrier state = barriers_[barrier];
  barriers_[barrier] = Barrier{};
  std::uint32_t reduction = state.true_count;
  if (instruction.barrier == BarrierForm::kReduceAnd) reduction = state.true_count == state.voters;
  for (Warp& warp : warps_) {
    if ((state.warps >> warp.index() & 1) == 0) continue;
    races_.Leave(warp.index(), state.met);
    warp.Release(barrier, reduction);
  }
}

// No thread can go on, and some have not exited.
void Cta::ReportDeadlock() {
  for (Warp& warp : warps_) {
    if (warp.waiting().empty()) continue;
    const Group& group = warp.waiting().front();
    const Instruction& instruction = kernel().code[group.pc];
    const unsigned thread =
        warp.index() * kWarpSize + static_cast<unsigned>(std::countr_zero(group.mask));
    Report(
        "divergence", instruction, thread,
        fmt::format("waits for ever; of the block's {} threads, {}", threads_, DescribeWaiting()));
    return;
  }
}

// "32 have exited, 16 wait at line 20, 16 wait at line 30 for phase 0 of the mbarrier at 'full' +
// 0"
std::string Cta::DescribeWaiting() {
  std::uint32_t exited = 0;
  std::map<std::pair<std::uint32_t, std::string>, int> waiting;  // line and for what: threads
  for (Warp& warp : warps_) {
    exited += static_cast<std::uint32_t>(std::popcount(warp.present() & ~warp.live()));
    for (const Group& group : warp.waiting()) {
      std::string phase;
      if (group.wait == Wait::kPhase) {
        phase = DescribePhaseWait(warp, kernel().code[group.pc], group.mask);
      }
      waiting[{kernel().sources[group.pc].line, phase}] += std::popcount(group.mask);
    }
  }
  std::string text = fmt::format("{} have exited", exited);
  for (const auto& [place, threads] : waiting) {
    text += fmt::format(", {} wait at line {}{}", threads, place.first, place.second);
  }
  return text;
}

}  // namespace lijit::emulator

// SPDX-License-Identifier: Apache-2.0
// What the scheduler needs to know about mbarrier.test_wait and try_wait. Both wait here, which
// either may: a thread goes on when its phase is complete, or, finding that it is not, when nothing
// else in the block can run.
#pragma once

#include <string>

#include "runtime/emulator/program.h"

namespace lijit::emulator {

// The lanes whose phase is complete. May complete asynchronous copies. 0 after a finding.
Mask TestPhases(Warp& warp, const Instruction& in, Mask mask);

// Whether any lane that waits should test again.
bool MayTestPhase(Warp& warp, const Instruction& in, Mask mask);

// " for phase 2 of the mbarrier at 'full' + 8, which lacks 1 arrivals and 0 bytes"
std::string DescribePhaseWait(Warp& warp, const Instruction& in, Mask mask);

}  // namespace lijit::emulator

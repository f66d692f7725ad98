// SPDX-License-Identifier: Apache-2.0
// Kinds of fault that users of such kernels have reported in public, by the number that they have
// in the project's list. Each test is named for one and shows that the kernels here do not have it.
//
// Elsewhere: B17 in large_grids_test.cc; B52 in shapes_test.cc (every head count, head dimension
// and page); B53 in determinism_test.cc; B56, B57, B58 in rotation_test.cc; B68 in scales_test.cc.
//
// Not of these ops:
//   B38 (transfer before an asynchronous load ends), B61 (layers that share indices): who calls
//       the ops decides when and for which layer; B38's moved pages are tested below
//   B39, B40 (capacity counted wrong): the planner's; the bytes that it counts are tested below
//   B24 (a schedule made for another batch): there is no schedule outside of a launch; that a
//       later launch sees a longer context is tested below
//   B72 (tests with one scale a page): RandomRows gives every token a magnitude of its own
#pragma once

#include "tests/support/indexer_fixture.h"

namespace lijit::tests {

class ReportedFaults : public IndexerTest {
 protected:
  static constexpr const char* kFormats[] = {"fp8_e4m3", "mxfp4"};
  // With conversions as bit operations, and with the target's own.
  static constexpr const char* kTargets[] = {"sm_86", "sm_120f"};
};

}  // namespace lijit::tests

// SPDX-License-Identifier: Apache-2.0
// The suite of tests that run an indexer on an emulated device.
#pragma once

#include <gtest/gtest.h>

#include "runtime/compile/compilers.h"
#include "tests/support/indexer_cases.h"

namespace lijit::tests {

class IndexerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto backend = runtime::ChooseBackend("auto", ImageKind::kPtx);
    if (!backend.ok()) GTEST_SKIP() << backend.error().message;
  }

  // Every test's last word: no access was out of bounds, misaligned, of bytes that nobody wrote, or
  // raced with another.
  void TearDown() override {
    for (const Finding& finding : TakeFindings()) ADD_FAILURE() << finding.message;
  }
};

}  // namespace lijit::tests

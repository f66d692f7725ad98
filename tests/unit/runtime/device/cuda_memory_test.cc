// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>

#include "tests/unit/runtime/device/fake_driver.h"

namespace lijit::runtime {
namespace {

class CudaMemoryTest : public testing::Test {
 protected:
  CudaMemoryTest() : context_(FakeDriver(), 0), memory_(context_) {
    EXPECT_TRUE(context_.Open().ok());
  }
  std::string Message(DeviceAddress address, std::uint64_t bytes) {
    const Status status = memory_.Check(address, bytes, "copying");
    return status.ok() ? "" : status.error().message;
  }

  CudaContext context_;
  CudaMemory memory_;
};

TEST_F(CudaMemoryTest, AllocatesAndFrees) {
  const auto address = memory_.Allocate(64, "keys");
  ASSERT_TRUE(address.ok());
  EXPECT_TRUE(memory_.Free(*address).ok());
  const Status again = memory_.Free(*address);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(memory_.Free(0).ok());
  EXPECT_EQ(FakeState().depth, 0);
}

TEST_F(CudaMemoryTest, EmptyAllocationsAreOrdinary) {
  const auto address = memory_.Allocate(0, "nothing");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(Message(*address, 0), "");
  EXPECT_TRUE(memory_.Free(*address).ok());
}

TEST_F(CudaMemoryTest, WhatIsLeftIsFreedAtTheEnd) {
  {
    CudaMemory other(context_);
    ASSERT_TRUE(other.Allocate(64, "left").ok());
    EXPECT_EQ(FakeState().owners.size(), 1u);
  }
  EXPECT_TRUE(FakeState().owners.empty());
}

TEST_F(CudaMemoryTest, OutOfMemoryNamesTheAllocation) {
  FakeState().results["MemAlloc"] = kCuErrorOutOfMemory;
  const auto address = memory_.Allocate(1000, "logits");
  ASSERT_FALSE(address.ok());
  for (const char* part : {"1000 bytes for 'logits'", "10 of 20 bytes free", "(2)"}) {
    EXPECT_NE(address.error().message.find(part), std::string::npos) << address.error().message;
  }
}

TEST_F(CudaMemoryTest, RangesAreCheckedAgainstTheirAllocation) {
  const DeviceAddress address = memory_.Allocate(100, "keys").value();
  EXPECT_EQ(Message(address, 100), "");
  EXPECT_EQ(Message(address + 40, 60), "");
  EXPECT_EQ(Message(address + 40, 61),
            "copying: 61 bytes at offset 40 of 'keys' do not lie inside its 100 bytes");
  EXPECT_NE(Message(address + 1, std::numeric_limits<std::uint64_t>::max()), "");
}

TEST_F(CudaMemoryTest, MemoryOfOthers) {
  FakeState().owners[0x1000] = 0;
  FakeState().owners[0x2000] = 1;
  EXPECT_EQ(Message(0x1000, 1 << 20), "");
  EXPECT_EQ(Message(0x2000, 1),
            "copying: address 0x2000 is memory of CUDA device 1, and this is device 0; copy it, or "
            "use that device");
  EXPECT_EQ(Message(0x3000, 1), "copying: address 0x3000 is not memory of any CUDA device");
}

TEST_F(CudaMemoryTest, AChildOfForkIsRefused) {
  const pid_t child = fork();
  if (child == 0) {
    const auto address = memory_.Allocate(1, "child");
    const bool refused =
        !address.ok() && address.error().message.find("its child by fork") != std::string::npos;
    _exit(refused && !context_.usable() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace lijit::runtime

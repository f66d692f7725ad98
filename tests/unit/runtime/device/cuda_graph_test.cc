// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda_graph.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "runtime/device/cuda_kernels.h"
#include "tests/unit/runtime/device/fake_driver.h"

namespace lijit::runtime {
namespace {

class CudaGraphTest : public testing::Test {
 protected:
  CudaGraphTest() : context_(FakeDriver(), 0) { EXPECT_TRUE(context_.Open().ok()); }
  ~CudaGraphTest() override {
    EXPECT_EQ(FakeState().live, 0);
    EXPECT_EQ(FakeState().depth, 0);
    EXPECT_FALSE(FakeState().capturing);
  }
  static Status Nothing(Stream) { return {}; }

  CudaContext context_;
};

TEST_F(CudaGraphTest, RecordsInACaptureAndTimesEachReplay) {
  bool was_capturing = false;
  const auto graph = RecordCudaGraph(context_, [&](Stream stream) {
    was_capturing = FakeState().capturing && stream != nullptr;
    return Status();
  });
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_TRUE(was_capturing);
  ASSERT_TRUE((*graph)->Launch().ok());
  EXPECT_EQ(FakeState().graph_launches, 1);
  const auto times = (*graph)->Time(4);
  ASSERT_TRUE(times.ok()) << times.error().message;
  EXPECT_EQ(*times, (std::vector<double>(4, 1000.0)));
  EXPECT_EQ(FakeState().graph_launches, 5);
}

TEST_F(CudaGraphTest, NumbersOfReplays) {
  const auto graph = RecordCudaGraph(context_, Nothing);
  ASSERT_TRUE(graph.ok());
  for (const int replays : {-1, 0, kMaxTimedReplays + 1}) {
    EXPECT_EQ((*graph)->Time(replays).error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(FakeState().graph_launches, 0);
}

TEST_F(CudaGraphTest, WorkThatFailsEndsTheCapture) {
  const auto graph = RecordCudaGraph(context_, [](Stream) -> Status { return Failed("it broke"); });
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message, "it broke");
  EXPECT_FALSE(FakeState().capturing);
  EXPECT_TRUE(RecordCudaGraph(context_, Nothing).ok());
}

TEST_F(CudaGraphTest, WhatTheDriverRefusesIsAnErrorAndLeavesNothingBehind) {
  for (const char* function :
       {"StreamCreate", "StreamBeginCapture", "StreamEndCapture", "GraphInstantiate"}) {
    FakeState().results = {{function, 999}};
    EXPECT_FALSE(RecordCudaGraph(context_, Nothing).ok()) << function;
    EXPECT_EQ(FakeState().live, 0) << function;
    FakeState().capturing = false;
  }
  FakeState().results.clear();
  const auto graph = RecordCudaGraph(context_, Nothing);
  ASSERT_TRUE(graph.ok());
  const int live = FakeState().live;
  for (const char* function : {"GraphLaunch", "EventCreate", "EventRecord", "EventElapsedTime"}) {
    FakeState().results = {{function, 999}};
    EXPECT_FALSE((*graph)->Time(2).ok()) << function;
    EXPECT_EQ(FakeState().live, live) << function;
  }
}

TEST_F(CudaGraphTest, NothingIsLoadedInside) {
  CudaKernels kernels(context_, "sm_86", ImageKind::kPtx, 1000);
  const std::string_view ptx = "ptx";
  const auto graph = RecordCudaGraph(context_, [&](Stream) -> Status {
    LIJIT_TRY(kernels.Load(std::as_bytes(std::span(ptx)), "late"));
    return {};
  });
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.error().message.find("'late'"), std::string::npos);
  EXPECT_EQ(FakeState().modules, 0);
}

}  // namespace
}  // namespace lijit::runtime

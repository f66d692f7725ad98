// SPDX-License-Identifier: Apache-2.0
// The whole path on a CUDA device: its own target and older ones through the driver's assembler,
// beside the emulated device of the same target. Equal bits everywhere.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>

#include "lijit/run.h"

namespace lijit {
namespace {

// Target ("native", or one whose PTX the device can run), format, op, backend.
class GpuRun : public ::testing::TestWithParam<
                   std::tuple<std::string, std::string, std::string, std::string>> {};

RunRequest RequestFor(const std::string& device, const std::string& target,
                      const std::string& format, const std::string& op,
                      const std::string& backend = "auto") {
  RunRequest request;
  request.runtime.device = device;
  request.runtime.target = target;
  request.runtime.cache = cache::CacheConfig{};  // memory only
  request.indexer.format = format;
  request.indexer.heads = 64;
  request.indexer.schedule = "simt";
  request.indexer.backend = backend;
  request.op = op;
  if (op == "paged") request.batch = 3;
  if (op == "paged") request.next_n = 2;
  request.context = 333;
  if (op == "ragged") request.queries = 5;
  request.top_k = 100;
  request.seed = 7;
  return request;
}

TEST_P(GpuRun, EqualsTheEvaluatorAndTheEmulatedDevice) {
  const auto& [target, format, op, backend] = GetParam();
  const Result<std::shared_ptr<Device>> device = OpenDevice("cuda", target);
  if (!device.ok() && device.error().code == ErrorCode::kUnavailable) {
    GTEST_SKIP() << device.error().message;
  }
  ASSERT_TRUE(device.ok()) << device.error().message;

  const Result<RunReport> gpu = lijit::Run(RequestFor("cuda", target, format, op, backend));
  if (!gpu.ok() && gpu.error().code == ErrorCode::kUnavailable) {
    GTEST_SKIP() << gpu.error().message;
  }
  ASSERT_TRUE(gpu.ok()) << gpu.error().message;
  EXPECT_TRUE(gpu->ok) << (gpu->problems.empty() ? "" : gpu->problems[0]);
  EXPECT_TRUE(gpu->bitwise_equal);
  EXPECT_TRUE(gpu->writers_equal);
  EXPECT_TRUE(gpu->topk_equal);
  EXPECT_EQ(gpu->backend, backend);

  const Result<RunReport> emulated =
      lijit::Run(RequestFor("emulated", gpu->target, format, op, backend));
  ASSERT_TRUE(emulated.ok()) << emulated.error().message;
  EXPECT_EQ(gpu->logits.size(), emulated->logits.size());
  EXPECT_EQ(0, std::memcmp(gpu->logits.data(), emulated->logits.data(),
                           gpu->logits.size() * sizeof(float)));
  EXPECT_EQ(gpu->indices, emulated->indices);
}

INSTANTIATE_TEST_SUITE_P(
    Matrix, GpuRun,
    ::testing::Combine(::testing::Values("native", "sm_80", "sm_86", "sm_89"),
                       ::testing::Values("fp8_e4m3", "fp8_e4m3_pow2", "mxfp4", "mxfp4_deepgemm",
                                         "mxfp4_trtllm", "mxfp4_ocp_floor", "mxfp4_even", "bf16"),
                       ::testing::Values("paged", "ragged"), ::testing::Values("cuda", "ptx")),
    [](const auto& test_case) {
      return std::get<0>(test_case.param) + "_" + std::get<1>(test_case.param) + "_" +
             std::get<2>(test_case.param) + "_" + std::get<3>(test_case.param);
    });

// Contexts and pools that only a GPU gets through quickly.
TEST(GpuLarge, LongContextEqualsTheEvaluator) {
  const Result<std::shared_ptr<Device>> device = OpenDevice("cuda", "native");
  if (!device.ok() && device.error().code == ErrorCode::kUnavailable) {
    GTEST_SKIP() << device.error().message;
  }
  for (const char* format : {"fp8_e4m3", "mxfp4"}) {
    for (const char* op : {"paged", "ragged"}) {
      RunRequest request = RequestFor("cuda", "native", format, op);
      request.context = 20000;
      request.top_k = 2048;
      request.page_stride = 8640;
      const Result<RunReport> report = lijit::Run(request);
      ASSERT_TRUE(report.ok()) << report.error().message;
      EXPECT_TRUE(report->ok) << (report->problems.empty() ? "" : report->problems[0]);
      EXPECT_TRUE(report->bitwise_equal) << format << " " << op;
    }
  }
}

// MXFP4 by tensor cores has the evaluator's bits, too.
TEST(GpuTensorCores, Mxfp4EqualsTheEvaluatorAndFp8IsNear) {
  for (const char* target : {"native", "sm_80", "sm_86"}) {
    const Result<std::shared_ptr<Device>> device = OpenDevice("cuda", target);
    if (!device.ok() && device.error().code == ErrorCode::kUnavailable) {
      GTEST_SKIP() << device.error().message;
    }
    for (const char* op : {"paged", "ragged"}) {
      for (const char* format : {"mxfp4", "fp8_e4m3"}) {
        RunRequest request = RequestFor("cuda", target, format, op);
        request.indexer.schedule = "auto";
        request.context = 3001;
        const Result<RunReport> report = lijit::Run(request);
        ASSERT_TRUE(report.ok()) << report.error().message;
        EXPECT_NE(report->schedule, "simt");
        EXPECT_TRUE(report->ok) << target << " " << op << " " << format;
        EXPECT_TRUE(report->bitwise_equal || std::string(format) != "mxfp4");
      }
    }
  }
}

}  // namespace
}  // namespace lijit

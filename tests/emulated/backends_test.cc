// SPDX-License-Identifier: Apache-2.0
// Two compilers that share nothing, one result: outputs of the backends are equal in every bit, NaN
// included.
#include <cstring>

#include "lijit/run.h"
#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

struct BackendCase {
  std::string target, format, op;
};

void PrintTo(const BackendCase& c, std::ostream* out) { *out << c.target << c.format << c.op; }

std::vector<BackendCase> MainMatrix() {
  std::vector<BackendCase> cases;
  for (const char* target : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100f", "sm_120f"}) {
    for (const char* format : {"fp8_e4m3", "mxfp4"}) {
      for (const char* op : {"paged", "ragged"}) cases.push_back({target, format, op});
    }
  }
  return cases;
}

class Backends : public IndexerTest, public ::testing::WithParamInterface<BackendCase> {
 protected:
  Result<RunReport> RunOn(const std::string& backend) const {
    RunRequest request;
    request.runtime = {"emulated", GetParam().target, TestCacheConfig()};
    request.indexer = Small(GetParam().format, 64);
    request.indexer.backend = backend;
    request.op = GetParam().op;
    request.batch = 2;
    request.next_n = 2;
    request.context = 70;
    request.top_k = 9;
    request.seed = 3;
    return lijit::Run(request);
  }
};

TEST_P(Backends, AgreeInEveryBit) {
  const Result<RunReport> cuda = RunOn("cuda");
  const Result<RunReport> ptx = RunOn("ptx");
  for (const auto* report : {&cuda, &ptx}) {
    if (!report->ok() && report->error().code == ErrorCode::kUnavailable) {
      GTEST_SKIP() << report->error().message;
    }
    ASSERT_TRUE(report->ok()) << report->error().message;
    EXPECT_TRUE((*report)->ok);
  }
  EXPECT_EQ(cuda->backend, "cuda");
  EXPECT_EQ(ptx->backend, "ptx");
  ASSERT_EQ(cuda->logits.size(), ptx->logits.size());
  EXPECT_EQ(
      std::memcmp(cuda->logits.data(), ptx->logits.data(), cuda->logits.size() * sizeof(float)), 0);
  EXPECT_EQ(cuda->indices, ptx->indices);
}

std::string NameOf(const ::testing::TestParamInfo<BackendCase>& info) {
  return info.param.target + "_" + info.param.format + "_" + info.param.op;
}
INSTANTIATE_TEST_SUITE_P(MainMatrix, Backends, ::testing::ValuesIn(MainMatrix()), NameOf);

}  // namespace
}  // namespace lijit::tests

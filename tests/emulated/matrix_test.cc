// SPDX-License-Identifier: Apache-2.0
// The evidence "emulated" of runtime/support/support.def: every op of every shipped format on every
// target of the lattice, compared with the evaluator bit by bit. Formats that only a text declares
// run on an old and on a new target.
#include <fmt/format.h>

#include "compiler/target/target.h"
#include "lijit/run.h"
#include "lijit/targets.h"
#include "runtime/compile/kernel_module.h"
#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

struct MatrixCase {
  std::string target;
  IndexerConfig config;
};

void PrintTo(const MatrixCase& c, std::ostream* out) { *out << c.target << c.config.format; }

std::vector<std::string> ShippedFormatNames() {
  std::vector<std::string> names;
  const Result<ir::Module> shipped = runtime::ShippedFormats();
  for (const ir::Format& format : shipped.value().formats) names.push_back(format.name);
  return names;
}

std::vector<MatrixCase> EveryTarget() {
  std::vector<MatrixCase> cases;
  for (const target::Target& target : target::AllTargets()) {
    for (const std::string& format : ShippedFormatNames()) {
      cases.push_back({std::string(target.name), Small(format)});
    }
  }
  return cases;
}

std::vector<MatrixCase> MainTargets() {
  std::vector<MatrixCase> cases;
  for (const char* target : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100f", "sm_120f"}) {
    for (const char* format : {"fp8_e4m3", "mxfp4"}) cases.push_back({target, Small(format, 64)});
  }
  return cases;
}

std::vector<MatrixCase> DeclaredFormats() {
  std::vector<MatrixCase> cases;
  for (const char* target : {"sm_86", "sm_120f"}) {
    for (const auto& [format, file] :
         std::initializer_list<std::pair<const char*, const char*>>{{"nvfp4", "nvfp4.lir"},
                                                                    {"mxfp8", "mxfp8.lir"},
                                                                    {"mxfp8_e5m2", "mxfp8.lir"},
                                                                    {"e3m4", "odd.lir"},
                                                                    {"e3m0", "odd.lir"},
                                                                    {"f16", "odd.lir"}}) {
      cases.push_back({target, FromFile(format, file)});
    }
  }
  return cases;
}

class Matrix : public IndexerTest, public ::testing::WithParamInterface<MatrixCase> {};

TEST_P(Matrix, EqualsTheEvaluator) {
  for (const char* op : {"paged", "ragged"}) {
    RunRequest request;
    request.runtime = {"emulated", GetParam().target, TestCacheConfig()};
    request.indexer = GetParam().config;
    request.op = op;
    request.batch = 2;
    request.next_n = 2;
    request.context = 70;
    request.top_k = 9;
    const Result<RunReport> report = lijit::Run(request);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->ok) << fmt::format("{}", fmt::join(report->problems, "\n"));
    EXPECT_TRUE(report->bitwise_equal && report->writers_equal && report->topk_equal) << op;
    EXPECT_TRUE(report->findings.empty());
    EXPECT_EQ(report->target, GetParam().target);
    EXPECT_EQ(report->schedule, "simt");
  }
}

std::string NameOf(const ::testing::TestParamInfo<MatrixCase>& info) {
  return info.param.target + "_" + info.param.config.format;
}
INSTANTIATE_TEST_SUITE_P(EveryTarget, Matrix, ::testing::ValuesIn(EveryTarget()), NameOf);
INSTANTIATE_TEST_SUITE_P(MainTargets, Matrix, ::testing::ValuesIn(MainTargets()), NameOf);
INSTANTIATE_TEST_SUITE_P(DeclaredFormats, Matrix, ::testing::ValuesIn(DeclaredFormats()), NameOf);

// What the cases above ran is what the table claims.
TEST(MatrixTable, ClaimsWhatIsRun) {
  const std::size_t combinations = target::AllTargets().size() * ShippedFormatNames().size();
  std::size_t claimed = 0;
  for (const SupportRow& row : SupportTable()) {
    if (row.schedule == "simt" && row.backend == "cuda") ++claimed;
  }
  EXPECT_EQ(claimed, combinations * ir::AllKernelKinds().size());
}

}  // namespace
}  // namespace lijit::tests

// SPDX-License-Identifier: Apache-2.0
// The evidence "emulated" of runtime/support/support.def: what the table claims of any op, format
// and target is run and compared with the evaluator bit by bit. Formats that only a text declares
// run on an old and on a new target.
#include <fmt/format.h>

#include <set>

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

void PrintTo(const MatrixCase& c, std::ostream* out) {
  *out << c.target << " " << c.config.format << " " << c.config.backend;
}

// What the table claims of any op, each combination once: a run uses all ops but one or two.
std::vector<MatrixCase> EveryClaim() {
  std::set<std::vector<std::string>> seen;
  std::vector<MatrixCase> cases;
  for (const SupportRow& row : SupportTable()) {
    if (!row.refused.empty()) continue;
    if (!seen.insert({row.target, row.format, row.schedule, row.backend}).second) continue;
    cases.push_back({row.target, Small(row.format)});
    cases.back().config.schedule = row.schedule;
    cases.back().config.backend = row.backend;
  }
  return cases;
}

std::vector<MatrixCase> WithBackends(const std::vector<MatrixCase>& cases) {
  std::vector<MatrixCase> all;
  for (const char* backend : {"cuda", "ptx"}) {
    all.insert(all.end(), cases.begin(), cases.end());
    for (std::size_t i = all.size() - cases.size(); i < all.size(); ++i) {
      all[i].config.backend = backend;
    }
  }
  return all;
}

std::vector<MatrixCase> MainTargets() {
  std::vector<MatrixCase> cases;
  for (const char* target : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100f", "sm_120f"}) {
    for (const char* format : {"fp8_e4m3", "mxfp4"}) cases.push_back({target, Small(format, 64)});
  }
  return WithBackends(cases);
}

std::vector<MatrixCase> DeclaredFormats() {
  constexpr std::pair<const char*, const char*> kFormats[] = {
      {"nvfp4", "nvfp4.lir"}, {"mxfp8", "mxfp8.lir"}, {"mxfp8_e5m2", "mxfp8.lir"},
      {"e3m4", "odd.lir"},    {"e3m0", "odd.lir"},    {"f16", "odd.lir"}};
  std::vector<MatrixCase> cases;
  for (const char* target : {"sm_86", "sm_120f"}) {
    for (const auto& [format, file] : kFormats) cases.push_back({target, FromFile(format, file)});
  }
  return WithBackends(cases);
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
    if (!report.ok() && report.error().code == ErrorCode::kUnavailable) {
      GTEST_SKIP() << report.error().message;
    }
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->ok) << fmt::format("{}", fmt::join(report->problems, "\n"));
    // FP8 is summed in the tensor core's order; report->ok holds it to the contract's limit.
    const bool reordered = report->schedule == "mma_f16" || report->schedule == "wgmma_e4m3";
    EXPECT_TRUE(report->bitwise_equal || reordered) << op;
    EXPECT_TRUE(report->writers_equal && report->topk_equal) << op;
    EXPECT_TRUE(report->findings.empty());
    EXPECT_EQ(report->target, GetParam().target);
    EXPECT_EQ(report->backend, GetParam().config.backend);
  }
}

std::string NameOf(const ::testing::TestParamInfo<MatrixCase>& info) {
  const auto& [target, config] = info.param;
  return fmt::format("{}_{}_{}_{}", target, config.format, config.schedule, config.backend);
}
INSTANTIATE_TEST_SUITE_P(EveryClaim, Matrix, ::testing::ValuesIn(EveryClaim()), NameOf);
INSTANTIATE_TEST_SUITE_P(MainTargets, Matrix, ::testing::ValuesIn(MainTargets()), NameOf);
INSTANTIATE_TEST_SUITE_P(DeclaredFormats, Matrix, ::testing::ValuesIn(DeclaredFormats()), NameOf);

// The table says something of every op on every target in every shipped format.
TEST(MatrixTable, HasNoHoles) {
  const Result<ir::Module> shipped = runtime::ShippedFormats();
  const std::size_t combinations = target::AllTargets().size() * shipped.value().formats.size();
  std::size_t claimed = 0;
  for (const SupportRow& row : SupportTable()) {
    if (row.schedule == "simt" && row.backend == "cuda") ++claimed;
  }
  EXPECT_EQ(claimed, combinations * ir::AllKernelKinds().size());
}

}  // namespace
}  // namespace lijit::tests

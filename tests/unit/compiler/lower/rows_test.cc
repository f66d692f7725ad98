// SPDX-License-Identifier: Apache-2.0
// Lowered writers against the evaluator, on rows that formats find hard: infinities, NaN, zeros,
// subnormals, magnitudes just beside powers of two.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

#include "compiler/ir/evaluator.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/parameters.h"
#include "compiler/support/float_text.h"
#include "tests/support/entry_interpreter.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::lower {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr std::uint8_t kUntouched = 0xcc;

// What stands at a random place of a row of which the rest are numbers around `scale`.
struct HardRow {
  float special;
  float scale;
};

constexpr HardRow kHardRows[] = {{0, 1},
                                 {0, 0},
                                 {-0.0f, 0},
                                 {kInfinity, 1},
                                 {-kInfinity, 1},
                                 {kNan, 1},
                                 {kNan, 0},
                                 {kInfinity, 0},
                                 {kLargest, 1},
                                 {kLargest, kLargest},
                                 {1, 0x1p-140f},
                                 {0x1p-149f, 0},
                                 {0x1p-126f, 0},
                                 {448, 1},
                                 {6, 1},
                                 {0x1.000002p2f, 1},
                                 {0x1.fffffep2f, 1},
                                 {0x1p-120f, 0x1p-130f},
                                 {1e-4f, 1e-6f},
                                 {-1, 1e-30f}};

std::vector<float> RowsOf(int dim) {
  std::mt19937 random(static_cast<unsigned>(dim));
  std::vector<float> rows;
  for (const HardRow& hard : kHardRows) {
    const auto begin = rows.size();
    for (int i = 0; i < dim; ++i) {
      const float unit = std::ldexp(static_cast<float>(random()), -31) - 1.0f;
      rows.push_back(hard.scale * unit);
    }
    rows[begin + random() % static_cast<unsigned>(dim)] = hard.special;
  }
  return rows;
}

template <typename T>
std::vector<std::byte> BytesOf(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<std::uint8_t> WriteLowered(const ir::Module& module, const target::Target& target,
                                       const std::vector<float>& rows,
                                       const std::vector<std::int64_t>& slots,
                                       std::size_t page_bytes) {
  const ir::Module lowered = Lower(module, target, "simt").value();
  std::vector<std::byte> x = BytesOf(rows);
  std::vector<std::byte> slot_bytes = BytesOf(slots);
  std::vector<std::byte> pool(page_bytes, std::byte{kUntouched});
  std::vector<std::byte> nothing;
  const std::map<std::string_view, tests::EntryArgument> given = {
      {"x", &x},
      {"x_token_stride", rows.size() / slots.size()},
      {"slots", &slot_bytes},
      {"pool", &pool},
      {"page_stride", page_bytes},
      {"page_count", std::uint64_t{1}},
      {"tokens", std::uint64_t{slots.size()}}};
  std::vector<tests::EntryArgument> arguments;
  for (const ParameterRow& row : ParametersOf(ir::KernelKind::kWriteCache)) {
    const auto found = given.find(row.name);
    arguments.push_back(found != given.end()           ? found->second
                        : row.type == ir::Scalar::kPtr ? tests::EntryArgument(&nothing)
                                                       : std::uint64_t{0});
  }
  const Status status = tests::Interpret(lowered.kernels[0], 2, arguments);
  EXPECT_TRUE(status.ok()) << status.error().message;
  std::vector<std::uint8_t> bytes(pool.size());
  std::memcpy(bytes.data(), pool.data(), pool.size());
  return bytes;
}

struct Case {
  std::string format;
  std::string target;
};

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const ir::Format& format : ir::AllFormats().formats) {
    for (const char* target : {"sm_86", "sm_90a", "sm_100f"})
      cases.push_back({format.name, target});
  }
  return cases;
}

class HardRows : public testing::TestWithParam<Case> {};

TEST_P(HardRows, AreWrittenAsTheEvaluatorDoes) {
  const target::Target target = target::ParseTarget(GetParam().target).value();
  for (const int dim : {32, 64, 128, 256}) {
    const ir::Module all =
        ir::IndexerOf(GetParam().format, {{"input", "f32"}, {"dim", std::to_string(dim)}});
    const ir::Module module = ExtractKernel(all, "write_cache").value();
    const ir::Kernel& kernel = module.kernels[0];
    const std::vector<float> rows = RowsOf(dim);
    std::vector<std::int64_t> slots;
    for (std::size_t i = 0; i < std::size(kHardRows); ++i) {
      slots.push_back(static_cast<std::int64_t>(3 * i % 64));
    }
    const auto page_bytes = static_cast<std::size_t>(
        module.layouts[0].PageBytes(module.FormatOf(kernel.results[0].format), dim));
    std::vector<std::uint8_t> expected(page_bytes, kUntouched);
    ir::EvaluateWriteCache(module, kernel, rows, slots,
                           {expected, static_cast<std::int64_t>(page_bytes), 1});
    const auto actual = WriteLowered(module, target, rows, slots, page_bytes);
    const auto differs = std::mismatch(expected.begin(), expected.end(), actual.begin());
    ASSERT_EQ(differs.first, expected.end())
        << "dim " << dim << ", byte " << differs.first - expected.begin() << ": "
        << int{*differs.second} << " instead of " << int{*differs.first};
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, HardRows, testing::ValuesIn(AllCases()),
                         [](const testing::TestParamInfo<Case>& param) {
                           return param.param.format + "_" + param.param.target;
                         });

}  // namespace
}  // namespace lijit::lower

// SPDX-License-Identifier: Apache-2.0
// Lowered scores against the evaluator, on stored rows of any bytes: codes and scales that no
// writer makes are numbers too, and terms come near both ends of f32.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
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

constexpr int kHeads = 8;
constexpr int kDim = 64;
constexpr std::size_t kKeys = 128;  // of one block

// Elements as wide as f32 with block scales: products of theirs are subnormal themselves.
constexpr char kWide[] = R"(
format @wide {
  element { exponent = 8, mantissa = 7, bias = 127, special = ieee, nan = 0x7fff }
  block_scale { size = 16, code = ue8m0, rule = pow2_ceil }
})";

struct Rows {
  std::vector<std::byte> values;
  std::vector<std::byte> scales;

  static std::span<const std::uint8_t> View(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
  }
  ir::RowsView View() const { return {View(values), View(scales)}; }
};

// Rows of any bytes; block scales lie around `exponent`, row scales are near 1.
Rows AnyRows(const ir::Format& format, std::size_t count, bool is_query, int exponent,
             std::mt19937& random) {
  Rows rows;
  const auto bytes = [&](int a_row) { return count * static_cast<std::size_t>(a_row); };
  // Of elements with f32's exponent those whose products are subnormal.
  const std::uint32_t tiny[] = {0xff, format.element.exponent == 8 ? 0x9fu : 0xffu};
  for (std::size_t i = 0; i < bytes(format.ValueBytes(kDim)); ++i) {
    rows.values.push_back(static_cast<std::byte>(random() & tiny[i % 2]));
  }
  for (std::size_t row = 0; row < count; ++row) {
    for (int i = 0; i < format.BlockScaleBytes(kDim); ++i) {
      const int code = 127 + exponent + static_cast<int>(random() % 25) - 12;
      rows.scales.push_back(static_cast<std::byte>(std::clamp(code, 0, 254)));
    }
    if (is_query || !format.row_scale) continue;
    const float scale = std::ldexp(static_cast<float>(random()), -32);
    const auto* p = reinterpret_cast<const std::byte*>(&scale);
    rows.scales.insert(rows.scales.end(), p, p + sizeof scale);
  }
  return rows;
}

std::vector<float> InterpretLogits(const ir::Module& module, Rows& q, Rows& k,
                                   std::vector<float>& weights) {
  const ir::Module lowered = Lower(module, target::ParseTarget("sm_86").value(), "simt").value();
  const auto bytes_of = [](const auto& values) {
    std::vector<std::byte> bytes(values.size() * 4);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  };
  std::vector<std::byte> w = bytes_of(weights);
  std::vector<std::byte> starts(4);
  std::vector<std::byte> ends = bytes_of(std::vector<std::int32_t>{kKeys});
  std::vector<std::byte> out(4 * kKeys);
  const std::map<std::string_view, tests::EntryArgument> given = {
      {"q_values", &q.values},
      {"q_scales", &q.scales},
      {"k_values", &k.values},
      {"k_scales", &k.scales},
      {"weights", &w},
      {"weight_stride", std::uint64_t{kHeads}},
      {"starts", &starts},
      {"ends", &ends},
      {"out", &out},
      {"out_stride", std::uint64_t{kKeys}},
      {"rows", std::uint64_t{1}},
      {"keys", std::uint64_t{kKeys}},
      {"width", std::uint64_t{kKeys}},
      {"keep_tail", std::uint64_t{0}},
      {"block_columns", std::uint64_t{128}}};
  std::vector<tests::EntryArgument> arguments;
  for (const ParameterRow& row : ParametersOf(ir::KernelKind::kLogitsRagged)) {
    arguments.push_back(given.at(row.name));
  }
  const Status status = tests::Interpret(lowered.kernels[0], 1, arguments);
  EXPECT_TRUE(status.ok()) << status.error().message;
  std::vector<float> logits(kKeys);
  std::memcpy(logits.data(), out.data(), out.size());
  return logits;
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names = {"wide"};
  for (const ir::Format& format : ir::AllFormats().formats) names.push_back(format.name);
  return names;
}

class AnyBytes : public testing::TestWithParam<std::string> {};

TEST_P(AnyBytes, AreScoredAsTheEvaluatorDoes) {
  const ir::Module all =
      ir::ModuleOf(ir::AllFormatsText() + kWide + std::string(ir::ShippedText("indexer.lir")),
                   {{"format", "@" + GetParam()}, {"heads", "8"}, {"dim", "64"}});
  const ir::Module module = ExtractKernel(all, "logits_ragged").value();
  std::mt19937 random(1);
  // Both rows' scales: their products reach from below the least subnormal to beyond the largest
  // number, and elements of 8 exponent bits reach as far by themselves.
  for (const int exponent : {0, -5, 5, -40, 40, -70, 62, -127, 127}) {
    Rows q = AnyRows(module.formats[0], kHeads, true, exponent, random);
    Rows k = AnyRows(module.formats[0], kKeys, false, exponent, random);
    std::vector<float> weights(kHeads);
    for (float& w : weights) w = std::ldexp(static_cast<float>(random()), -31) - 1.0f;
    const std::int32_t start = 0;
    const std::int32_t end = kKeys;
    const std::vector<float> expected = ir::EvaluateLogitsRagged(
        module, module.kernels[0], q.View(), k.View(), weights, {&start, 1}, {&end, 1}, kKeys);
    const std::vector<float> actual = InterpretLogits(module, q, k, weights);
    for (std::size_t i = 0; i < kKeys; ++i) {
      const bool both_nan = std::isnan(expected[i]) && std::isnan(actual[i]);
      ASSERT_TRUE(both_nan || BitsOfFloat(expected[i]) == BitsOfFloat(actual[i]))
          << "exponent " << exponent << ", key " << i << ": " << actual[i] << " instead of "
          << expected[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, AnyBytes, testing::ValuesIn(FormatNames()),
                         [](const testing::TestParamInfo<std::string>& param) {
                           return param.param;
                         });

}  // namespace
}  // namespace lijit::lower

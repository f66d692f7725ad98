// SPDX-License-Identifier: Apache-2.0
// Conversions of every element format of 4 and 8 bits, as bit operations, against the tables of
// the evaluator: every code, every boundary between two codes.
#include <gtest/gtest.h>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "tests/support/conversions.h"

namespace lijit::lower {
namespace {

using ir::Format;

// What a sweep varies besides the widths.
struct Rules {
  ir::Special special;
  ir::Overflow overflow;
};

constexpr Rules kRules[] = {{ir::Special::kNone, ir::Overflow::kSaturate},
                            {ir::Special::kNan, ir::Overflow::kSaturate},
                            {ir::Special::kIeee, ir::Overflow::kSaturate},
                            {ir::Special::kIeee, ir::Overflow::kInfinity}};
constexpr ir::ScaleRule kScaleRules[] = {ir::ScaleRule::kPow2Ceil, ir::ScaleRule::kPow2Floor,
                                         ir::ScaleRule::kPow2Even};

bool IsSound(const Format& format) {
  ir::Module module;
  module.formats = {format};
  return ir::Verify(module).empty();
}

// All sound formats of these widths; the rules of scales take turns.
std::vector<Format> FormatsOf(int exponent, int mantissa) {
  std::vector<Format> formats;
  for (const Rules& rules : kRules) {
    for (const ir::Ties ties : {ir::Ties::kEven, ir::Ties::kZero}) {
      for (const ir::Zero zero : {ir::Zero::kSigned, ir::Zero::kPositive}) {
        for (const int bias : {1, (1 << (exponent - 1)) - 1, 5, 90, 127}) {
          Format format;
          format.name = "swept";
          format.element = {exponent, mantissa, bias, rules.special, rules.overflow, ties, zero, 0};
          format.element.nan = static_cast<int>(format.element.MagnitudeMask());
          const std::size_t turn = formats.size();
          format.block_scale = {
              32, ir::ScaleCode::kUe8m0, kScaleRules[turn % 3], 0,
              turn % 2 == 0 ? ir::Nonfinite::kSaturate : ir::Nonfinite::kPropagate};
          // Elements that end below 1 take no scale.
          if (!IsSound(format)) format.block_scale.reset();
          if (IsSound(format)) formats.push_back(format);
        }
      }
    }
  }
  return formats;
}

std::string Describe(const Format& format) {
  ir::Module module;
  module.formats = {format};
  return ir::Print(module);
}

void CheckConversions(const Format& format, std::string_view target) {
  const auto inputs = tests::EveryBoundary(format);
  const ir::Module lowered = tests::LoweredConversions(format, target::ParseTarget(target).value());
  const ir::Kernel& entry = lowered.kernels[0];
  const auto outputs = tests::RunConversions(
      entry, format, inputs,
      [&](std::uint32_t blocks, std::span<const tests::EntryArgument> arguments) {
        return tests::Interpret(entry, blocks, arguments);
      });
  ASSERT_TRUE(outputs.ok()) << outputs.error().message;
  ASSERT_EQ(tests::Difference(inputs, tests::ExpectedConversions(format, inputs), *outputs), "")
      << target << "\n"
      << Describe(format);
}

struct Widths {
  int exponent;
  int mantissa;
};

// All of 4 and 8 bits.
std::vector<Widths> AllWidths() {
  std::vector<Widths> all;
  for (const int bits : {4, 8}) {
    for (int exponent = 1; exponent < bits; ++exponent) {
      all.push_back({exponent, bits - 1 - exponent});
    }
  }
  return all;
}

class Sweep : public testing::TestWithParam<Widths> {};

TEST_P(Sweep, EveryBoundaryAsTheEvaluatorHasIt) {
  const std::vector<Format> formats = FormatsOf(GetParam().exponent, GetParam().mantissa);
  EXPECT_GE(formats.size(), 64u);
  for (const Format& format : formats) {
    CheckConversions(format, "sm_80");
    if (HasFatalFailure()) return;
  }
}

std::string WidthsName(const testing::TestParamInfo<Widths>& param) {
  return "e" + std::to_string(param.param.exponent) + "m" + std::to_string(param.param.mantissa);
}

INSTANTIATE_TEST_SUITE_P(Elements, Sweep, testing::ValuesIn(AllWidths()), WidthsName);

}  // namespace
}  // namespace lijit::lower

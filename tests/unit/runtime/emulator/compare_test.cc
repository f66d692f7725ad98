// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

template <typename V>
const std::map<std::string, std::function<bool(V, V)>> kOrdered = {
    {"eq", [](V a, V b) { return a == b; }},
    {"ne", [](V a, V b) { return a != b && a == a && b == b; }},
    {"lt", [](V a, V b) { return a < b; }},
    {"le", [](V a, V b) { return a <= b; }},
    {"gt", [](V a, V b) { return a > b; }},
    {"ge", [](V a, V b) { return a >= b; }}};

template <typename V>
V ValueOf(std::uint64_t bits) {
  if constexpr (std::is_same_v<V, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<V, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<V>(bits);
  }
}

template <typename V, typename F>
void CheckComparison(const std::string& comparison, const std::string& type, F expected,
                     const std::vector<std::vector<std::uint64_t>>& inputs) {
  constexpr unsigned kBits = sizeof(V) * 8;
  const std::string text = fmt::format("setp.{}.{} %d, %a, %b;", comparison, type);
  const auto results = Evaluate(text, {1, kBits, kBits}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_EQ(results[i] != 0, expected(ValueOf<V>(inputs[i][0]), ValueOf<V>(inputs[i][1])))
        << text << " " << inputs[i][0] << " " << inputs[i][1];
  }
}

template <typename V>
void CheckInteger(const std::string& type) {
  const auto inputs = IntegerInputs(sizeof(V) * 8, 2);
  for (const auto& [name, holds] : kOrdered<V>) CheckComparison<V>(name, type, holds, inputs);
}

TEST(CompareTest, Integers) {
  CheckInteger<std::uint16_t>("u16");
  CheckInteger<std::int16_t>("s16");
  CheckInteger<std::uint32_t>("u32");
  CheckInteger<std::int32_t>("s32");
  CheckInteger<std::uint64_t>("u64");
  CheckInteger<std::int64_t>("s64");
  const std::map<std::string, std::string> unsigned_names{
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  for (const auto& [name, plain] : unsigned_names) {
    CheckComparison<std::uint32_t>(name, "u32", kOrdered<std::uint32_t>.at(plain),
                                   IntegerInputs(32, 2));
  }
  CheckComparison<std::uint64_t>("eq", "b64", kOrdered<std::uint64_t>.at("eq"),
                                 IntegerInputs(64, 2));
  EXPECT_NE(BodyError(".reg .pred p; .reg .b32 a; setp.lt.b32 p, a, a;"), "");
  EXPECT_NE(BodyError(".reg .pred p; .reg .b32 a; setp.lo.s32 p, a, a;"), "");
}

template <typename V>
void CheckFloat(const std::string& type, const std::vector<std::vector<std::uint64_t>>& inputs) {
  for (const auto& [name, holds] : kOrdered<V>) {
    CheckComparison<V>(name, type, holds, inputs);
    CheckComparison<V>(
        name + "u", type, [&](V a, V b) { return std::isnan(a) || std::isnan(b) || holds(a, b); },
        inputs);
  }
  CheckComparison<V>(
      "num", type, [](V a, V b) { return !std::isnan(a) && !std::isnan(b); }, inputs);
  CheckComparison<V>(
      "nan", type, [](V a, V b) { return std::isnan(a) || std::isnan(b); }, inputs);
}

TEST(CompareTest, Floats) {
  const auto inputs = FloatInputs32(2);
  CheckFloat<float>("f32", inputs);
  auto doubles = inputs;
  for (auto& row : doubles) {
    for (auto& value : row) value = std::bit_cast<std::uint64_t>(double{ValueOf<float>(value)});
  }
  CheckFloat<double>("f64", doubles);
}

TEST(CompareTest, FlushesWithFtz) {
  EXPECT_EQ(EvaluateOne("setp.gt.f32 %d, %a, %b;", {1, 32, 32}, {1, 0}), 1u);
  EXPECT_EQ(EvaluateOne("setp.gt.ftz.f32 %d, %a, %b;", {1, 32, 32}, {1, 0}), 0u);
}

TEST(CompareTest, Halves) {
  EXPECT_EQ(EvaluateOne("setp.lt.f16 %d, %a, %b;", {1, 16, 16}, {0x8000, 0x0001}), 1u);
  EXPECT_EQ(EvaluateOne("setp.eq.f16 %d, %a, %b;", {1, 16, 16}, {0x8000, 0x0000}), 1u);
  EXPECT_EQ(EvaluateOne("setp.gtu.f16 %d, %a, %b;", {1, 16, 16}, {0x7e00, 0x0000}), 1u);
  EXPECT_EQ(EvaluateOne("setp.gt.bf16 %d, %a, %b;", {1, 16, 16}, {0x4000, 0x3f80}), 1u);
}

TEST(CompareTest, BothPredicatesAndCombination) {
  const char* text = "{{ .reg .pred q; setp.lt.{}.s32 {}, %a, %b, {}; }}";
  for (std::uint64_t a = 0; a < 2; ++a) {
    for (std::uint64_t c = 0; c < 2; ++c) {
      const bool less = a < 1;
      const auto run = [&](const char* operation, const char* destination, const char* third) {
        return EvaluateOne(fmt::format(fmt::runtime(text), operation, destination, third),
                           {1, 32, 32, 1}, {a, 1, c}) != 0;
      };
      EXPECT_EQ(run("and", "%d|q", "%c"), less && c != 0);
      EXPECT_EQ(run("or", "%d|q", "%c"), less || c != 0);
      EXPECT_EQ(run("xor", "%d|q", "%c"), less != (c != 0));
      EXPECT_EQ(run("and", "%d|q", "!%c"), less && c == 0);
      EXPECT_EQ(run("and", "q|%d", "%c"), !less && c != 0);
      EXPECT_EQ(run("or", "_|%d", "%c"), !less || c != 0);
    }
  }
}

TEST(CompareTest, Set) {
  EXPECT_EQ(EvaluateOne("set.lt.u32.s32 %d, %a, %b;", {32, 32, 32}, {1, 2}), 0xffffffffu);
  EXPECT_EQ(EvaluateOne("set.lt.u32.s32 %d, %a, %b;", {32, 32, 32}, {2, 1}), 0u);
  EXPECT_EQ(EvaluateOne("set.eq.f32.f32 %d, %a, %b;", {32, 32, 32}, {0, 0x80000000}), 0x3f800000u);
  EXPECT_EQ(EvaluateOne("set.gt.and.u32.u32 %d, %a, %b, %c;", {32, 32, 32, 1}, {3, 2, 0}), 0u);
  EXPECT_EQ(EvaluateOne("set.gt.f16.f16 %d, %a, %b;", {16, 16, 16}, {0x4000, 0x3c00}), 0x3c00u);
}

TEST(CompareTest, Selections) {
  EXPECT_EQ(EvaluateOne("selp.b16 %d, %a, %b, %c;", {16, 16, 16, 1}, {1, 2, 1}), 1u);
  EXPECT_EQ(EvaluateOne("selp.f32 %d, %a, %b, %c;", {32, 32, 32, 1}, {1, 2, 0}), 2u);
  EXPECT_EQ(EvaluateOne("selp.b64 %d, %a, %b, !%c;", {64, 64, 64, 1}, {1, 2, 0}), 1u);
  EXPECT_EQ(EvaluateOne("slct.u32.s32 %d, %a, %b, %c;", {32, 32, 32, 32}, {1, 2, 0}), 1u);
  EXPECT_EQ(EvaluateOne("slct.b64.s32 %d, %a, %b, %c;", {64, 64, 64, 32}, {1, 2, 0x80000000}), 2u);
  EXPECT_EQ(EvaluateOne("slct.u16.f32 %d, %a, %b, %c;", {16, 16, 16, 32}, {1, 2, 0x80000000}), 1u);
  EXPECT_EQ(EvaluateOne("slct.f32.f32 %d, %a, %b, %c;", {32, 32, 32, 32}, {1, 2, 0x7fc00000}), 2u);
}

}  // namespace
}  // namespace lijit::emulator

// SPDX-License-Identifier: Apache-2.0
// Ops of kernels, one small body each.
#include "compiler/ir/evaluate_body.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/support/float_text.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit::ir {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// What a top_k kernel with this body, whose parameter is %x, yields for x.
float Scalar1(const std::string& body, float x) {
  const Module module = ModuleOf("kernel @k : top_k (%x: f32) -> (f32) {" + body + "}");
  return BodyEvaluator(module, module.kernels[0]).Run({NumberValue(x)})[0].numbers[0];
}

// The numbers that a writer in bf16 with this body, whose parameters are %x: vec<32 x f32> and
// %t: vec<8 x f32>, encodes.
std::vector<float> Vector1(const std::string& body, std::vector<float> x, std::vector<float> t) {
  const Module module = ModuleOf(
      AllFormatsText() +
      "layout @pages { tokens = 64 } "
      "kernel @k : write_cache layout @pages (%x: vec<32 x f32>, %t: vec<8 x f32>) -> (row<32 x "
      "@bf16>) {" +
      body + " %r, %s = encode %y : row<32 x @bf16>, f32 yield %r }");
  x.resize(32);
  const BodyEvaluator evaluator(module, module.kernels[0]);
  return evaluator.Run({NumbersValue(x), NumbersValue(t)})[0].rows->front().elements;
}

TEST(EvaluateBody, Arithmetic) {
  EXPECT_EQ(Scalar1("%c = const 2.5 : f32 %y = add %x, %c : f32 yield %y", 1), 3.5f);
  EXPECT_EQ(Scalar1("%c = const 2.5 : f32 %y = sub %x, %c : f32 yield %y", 1), -1.5f);
  EXPECT_EQ(Scalar1("%c = const 3 : f32 %y = div %x, %c : f32 yield %y", 1), 1.0f / 3.0f);
  EXPECT_EQ(Scalar1("%y = abs %x : f32 yield %y", -2), 2.0f);
  // Rounded once: the product alone would round its last bit away.
  EXPECT_EQ(Scalar1("%c = const -1.0 : f32 %y = fma %x, %x, %c : f32 yield %y", 0x1.000002p+0f),
            0x1.000001p-22f);
}

TEST(EvaluateBody, MaxMinAndReluKeepNanAndOrderZeros) {
  const std::string max = "%c = const 0.0 : f32 %y = max %x, %c : f32 yield %y";
  const std::string min = "%c = const 0.0 : f32 %y = min %x, %c : f32 yield %y";
  EXPECT_EQ(Scalar1(max, 3), 3.0f);
  EXPECT_EQ(Scalar1(min, 3), 0.0f);
  EXPECT_FALSE(std::signbit(Scalar1(max, -0.0f)));
  EXPECT_TRUE(std::signbit(Scalar1(min, -0.0f)));
  EXPECT_TRUE(std::isnan(Scalar1(max, kNan)));
  EXPECT_TRUE(std::isnan(Scalar1(min, kNan)));
  const std::string relu = "%y = relu %x : f32 yield %y";
  EXPECT_EQ(BitsOfFloat(Scalar1(relu, -0.0f)), 0u);
  EXPECT_EQ(Scalar1(relu, -kInf), 0.0f);
  EXPECT_EQ(Scalar1(relu, kInf), kInf);
  EXPECT_TRUE(std::isnan(Scalar1(relu, kNan)));
}

TEST(EvaluateBody, RoundTo16Bits) {
  EXPECT_EQ(Scalar1("%y = round %x { to = bf16 } : f32 yield %y", 0x1.018p+0f), 0x1.02p+0f);
  EXPECT_EQ(Scalar1("%y = round %x { to = bf16 } : f32 yield %y", 0x1.01p+0f), 0x1p+0f);
  EXPECT_EQ(Scalar1("%y = round %x { to = f16 } : f32 yield %y", 0x1.006p+0f), 0x1.008p+0f);
  EXPECT_EQ(Scalar1("%y = round %x { to = f16 } : f32 yield %y", 1e6f), kInf);
}

TEST(EvaluateBody, IntegersWrap) {
  const Module module = ModuleOf(
      "kernel @k : top_k (%x: f32) -> (f32) { %a = const 0x7fffffff : i32 %b = add %a, %a : i32 "
      "%c = mul %b, %b : i32 %d = sub %c, %a : i32 %e = const -1 : i64 %f = mul %e, %e : i64 yield "
      "%x }");
  // Integers reach no result of a kernel; that the body runs is what there is to see.
  const BodyEvaluator evaluator(module, module.kernels[0]);
  EXPECT_EQ(evaluator.Run({NumberValue(7)})[0].numbers[0], 7.0f);
}

TEST(EvaluateBody, VectorTimesScalar) {
  const auto y = Vector1("%c = const 2.0 : f32 %y = mul %x, %c : vec<32 x f32>", {1, 2, -3}, {});
  EXPECT_EQ(std::vector(y.begin(), y.begin() + 4), (std::vector<float>{2, 4, -6, 0}));
}

struct RopeCase {
  const char* style;
  const char* place;
  std::size_t first_of_pair;
  std::size_t second_of_pair;
};

// Turns one pair by a quarter (cos 0, sin 1), (3, 5) -> (-5, 3), and leaves the others (cos 1, sin
// 0).
TEST(EvaluateBody, RopePairsAndPlaces) {
  const RopeCase cases[] = {{"neox", "first", 1, 5},
                            {"interleaved", "first", 2, 3},
                            {"neox", "last", 25, 29},
                            {"interleaved", "last", 26, 27}};
  for (const RopeCase& c : cases) {
    std::vector<float> x(32, 7);
    x[c.first_of_pair] = 3;
    x[c.second_of_pair] = 5;
    std::vector<float> expected = x;
    expected[c.first_of_pair] = -5;
    expected[c.second_of_pair] = 3;
    const std::string body = std::string("%y = rope %x, %t { style = ") + c.style +
                             ", place = " + c.place + " } : vec<32 x f32>";
    EXPECT_EQ(Vector1(body, x, {1, 0, 1, 1, 0, 1, 0, 0}), expected) << body;
  }
}

TEST(EvaluateBody, RopeFusesNothing) {
  // a * cos is inexact and cancels with b * sin only if it has been rounded.
  const Module module = ModuleOf(
      "format @f32ish { element { exponent = 8, mantissa = 7, bias = 127, special = ieee, overflow "
      "= infinity, nan = 0x7fff } } layout @pages { tokens = 64 } "
      "kernel @k : write_cache layout @pages (%x: vec<32 x f32>, %t: vec<4 x f32>) -> (row<32 x "
      "@f32ish>) { %y = rope %x, %t { style = neox, place = first } : vec<32 x f32> %r, %s = "
      "encode "
      "%y : row<32 x @f32ish>, f32 yield %r }");
  std::vector<float> x(32);
  x[0] = 0x1.000002p+0f;
  x[2] = 0x1.000004p+0f;  // the rounded square of x[0]
  const std::vector<float> table = {0x1.000002p+0f, 1, 1, 0};
  const BodyEvaluator evaluator(module, module.kernels[0]);
  const auto results = evaluator.Run({NumbersValue(x), NumbersValue(table)});
  EXPECT_EQ(results[0].rows->front().elements[0], 0.0f);
}

TEST(EvaluateBody, HadamardIsSylvesters) {
  for (std::size_t column : {0, 1, 5, 31}) {
    std::vector<float> x(32);
    x[column] = 1;
    const auto y = Vector1("%y = hadamard %x : vec<32 x f32>", x, {});
    for (std::size_t row = 0; row < 32; ++row) {
      EXPECT_EQ(y[row], __builtin_popcountll(row & column) % 2 == 0 ? 1.0f : -1.0f);
    }
  }
}

// A logits kernel of 8 heads and dim 64 with the given body.
float Logit(std::string_view format, const std::string& body, const std::vector<StoredRow>& q,
            const StoredRow& k, const std::vector<float>& w) {
  const std::string f = "@" + std::string(format);
  const Module module =
      ModuleOf(AllFormatsText() + "kernel @k : logits.ragged (%q: rows<8 x 64 x " + f +
               ">, %k: row<64 x " + f + ">, %w: vec<8 x f32>) -> (f32) {" + body + "}");
  const BodyEvaluator evaluator(module, module.kernels[0]);
  return evaluator.Run({RowsValue(q), RowValue(k), NumbersValue(w)})[0].numbers[0];
}

constexpr char kScore[] =
    "%x = dot %q, %k : vec<8 x f32> %r = relu %x : vec<8 x f32> "
    "%s = weighted_sum %r, %w : f32 yield %s";

StoredRow RowOf64(std::string_view format, std::vector<float> x) {
  x.resize(64);
  return FormatCodes(FormatNamed(format)).Encode(x);
}

TEST(EvaluateBody, WeightedSumHasFourChains) {
  // x is 1 for all heads, so that the logit is the sum of the weights in canonical order.
  std::vector<StoredRow> q(8, RowOf64("bf16", {1}));
  const StoredRow k = RowOf64("bf16", {1});
  const std::vector<float> w = {1e8f, 1, 2, 3, -1e8f, 4, 5, 6};
  const float s0 = 1e8f + 1;
  const float s1 = 2.0f + 3;
  const float s2 = -1e8f + 4;
  const float s3 = 5.0f + 6;
  EXPECT_EQ(Logit("bf16", kScore, q, k, w), (s0 + s1) + (s2 + s3));
  // In ascending order, the sum would be another.
  float ascending = 0;
  for (const float weight : w) ascending += weight;
  EXPECT_NE(Logit("bf16", kScore, q, k, w), ascending);
}

TEST(EvaluateBody, ReluComesBeforeTheWeights) {
  std::vector<StoredRow> q(8, RowOf64("mxfp4", {-6}));
  const StoredRow k = RowOf64("mxfp4", {6});
  EXPECT_EQ(Logit("mxfp4", kScore, q, k, std::vector<float>(8, -1)), 0.0f);
  q[3] = RowOf64("mxfp4", {6});
  EXPECT_EQ(Logit("mxfp4", kScore, q, k, std::vector<float>(8, -1)), -36.0f);
}

TEST(EvaluateBody, BlockScalesThatCancelNeverMeet) {
  // 2^127 * 2^-127: neither product of scales nor sum of blocks may over- or underflow.
  StoredRow q = RowOf64("mxfp4", {6});
  StoredRow k = q;
  const auto with_code = [](StoredRow row, int code) {
    row.scales[0] = static_cast<std::uint8_t>(code);
    return FormatCodes(FormatNamed("mxfp4")).Decode(row.values, row.scales, 64);
  };
  std::vector<StoredRow> queries(8, RowOf64("mxfp4", {}));
  const std::vector<float> w(8, 1);
  queries[0] = with_code(q, 254);
  EXPECT_EQ(Logit("mxfp4", kScore, queries, with_code(k, 0), w), 36.0f);
  EXPECT_EQ(Logit("mxfp4", kScore, queries, with_code(k, 254), w), kInf);
  queries[0] = with_code(q, 0);
  EXPECT_EQ(Logit("mxfp4", kScore, queries, with_code(k, 0), w), 0.0f);
  EXPECT_EQ(Logit("mxfp4", kScore, queries, with_code(k, 110), w), std::ldexp(36.0f, -144));
  queries[0] = with_code(q, 255);
  EXPECT_TRUE(std::isnan(Logit("mxfp4", kScore, queries, k, w)));
}

TEST(EvaluateBody, RowScaleOpReadsTheKeysScale) {
  const std::string body =
      "%x = dot %q, %k : vec<8 x f32> %s = weighted_sum %x, %w : f32 %c = row_scale %k : f32 "
      "%y = mul %s, %c : f32 yield %y";
  std::vector<StoredRow> q(8, RowOf64("fp8_e4m3", {}));
  q[0] = RowOf64("fp8_e4m3", {448});
  const StoredRow k = RowOf64("fp8_e4m3", {896});
  EXPECT_EQ(Logit("fp8_e4m3", body, q, k, std::vector<float>(8, 1)), 448.0f * 896.0f);
  q[0] = RowOf64("bf16", {3});
  EXPECT_EQ(Logit("bf16", body, std::vector<StoredRow>(8, q[0]), RowOf64("bf16", {5}),
                  std::vector<float>(8, 1)),
            120.0f);
}

}  // namespace
}  // namespace lijit::ir

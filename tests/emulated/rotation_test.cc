// SPDX-License-Identifier: Apache-2.0
// RoPE and the Hadamard transform in the writers: unit vectors whose rotation is known, and
// equality with the evaluator, for the three models' conventions. A wrong pairing of dims or a
// dropped transform shows in no score of a short context (reported faults B56, B57, B58).
#include <climits>
#include <cmath>

#include "compiler/ir/evaluate_codes.h"
#include "compiler/support/float_text.h"
#include "tests/support/indexer_fixture.h"

namespace lijit::tests {
namespace {

struct Model {
  const char* name;
  Rotation rotation;
};
constexpr Model kModels[] = {
    {"DeepSeek-V3.2", {.interleaved = false, .last = false, .rope_dim = 64}},
    {"GLM-5", {.interleaved = true, .last = false, .rope_dim = 64}},
    {"DeepSeek-V4", {.interleaved = true, .last = true, .rope_dim = 64}},
};

IndexerConfig ConfigOf(const Model& model, std::string_view format, int head_dim = 128) {
  IndexerConfig config = Small(format, 8, head_dim);
  config.rotation = model.rotation;
  return config;
}

class RotationTest : public IndexerTest {};

// Cosine and sine of pair i as no angle has them, so that each number says where it came from.
float CosineOf(int i) { return static_cast<float>(i + 1) / 64; }
float SineOf(int i) { return static_cast<float>(i + 33) / 64; }

RopeInputs MarkedRope(std::int64_t tokens) {
  RopeInputs rope;
  for (int i = 0; i < 32; ++i) rope.table.push_back(CosineOf(i));
  for (int i = 0; i < 32; ++i) rope.table.push_back(SineOf(i));
  rope.positions.assign(Size(tokens), 0);
  return rope;
}

std::vector<float> UnitVectors(int count) {
  std::vector<float> rows(Size(count) * 128);
  for (int i = 0; i < count; ++i) rows[Size(i) * 128 + Size(i)] = 1;
  return rows;
}

// What e_i becomes, by the definition of each convention.
std::vector<float> RotatedUnit(int i, const Rotation& rotation) {
  std::vector<float> x(128);
  const int first = rotation.last ? 64 : 0;
  if (i < first || i >= first + 64) {
    x[Size(i)] = 1;
    return x;
  }
  const int at = i - first;
  const int pair = rotation.interleaved ? at / 2 : at % 32;
  const bool is_first = rotation.interleaved ? at % 2 == 0 : at < 32;
  const int partner = rotation.interleaved ? at ^ 1 : at ^ 32;
  x[Size(i)] = CosineOf(pair);
  x[Size(first + partner)] = is_first ? SineOf(pair) : -SineOf(pair);
  return x;
}

// The transform times 128^-0.5 from its definition; it is its own inverse.
std::vector<double> Hadamard(std::span<const float> x) {
  std::vector<double> y(128);
  for (unsigned i = 0; i < 128; ++i) {
    for (unsigned j = 0; j < 128; ++j) {
      y[i] += (__builtin_popcount(i & j) % 2 == 0 ? 1 : -1) * static_cast<double>(x[j]);
    }
    y[i] /= std::sqrt(128.0);
  }
  return y;
}

std::vector<float> Bf16Numbers(std::span<const std::uint8_t> bytes) {
  std::vector<float> numbers;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    numbers.push_back(FloatFromBits(static_cast<std::uint32_t>(bytes[i]) << 16 |
                                    static_cast<std::uint32_t>(bytes[i + 1]) << 24));
  }
  return numbers;
}

TEST_F(RotationTest, B56_UnitVectorsGoWhereTheModelSays) {
  for (const Model& model : kModels) {
    QueryCase c(TestIndexer::Of(ConfigOf(model, "bf16")),
                {.tokens = 16, .q = UnitVectors(128), .rope = MarkedRope(16)});
    c.Check();
    const std::vector<float> rows = Bf16Numbers(c.expected.rows.values);
    for (int i = 0; i < 128; ++i) {
      const std::vector<double> back = Hadamard(std::span(rows).subspan(Size(i) * 128, 128));
      const std::vector<float> wanted = RotatedUnit(i, model.rotation);
      // Rounded to bf16 twice; neighbouring pairs are 1/64 apart.
      for (std::size_t d = 0; d < 128; ++d) {
        ASSERT_NEAR(back[d], wanted[d], 1.0 / 160) << model.name << " e_" << i << " dim " << d;
      }
    }
  }
}

TEST_F(RotationTest, EqualsTheEvaluator) {
  for (const Model& model : kModels) {
    for (const char* format : {"fp8_e4m3", "mxfp4"}) {
      for (const DType input : {DType::kBf16, DType::kF32}) {
        IndexerConfig config = ConfigOf(model, format);
        config.input = input;
        TestIndexer& indexer = TestIndexer::Of(config);
        QueryCase(indexer, {.tokens = 9}).Check();
        WriteCase(indexer, {.slots = {0, 77, -1, 3, 192, 255}}).Check();
      }
    }
  }
}

TEST_F(RotationTest, EveryHeadDimensionAndPart) {
  for (const int head_dim : {32, 64, 128, 256}) {
    for (const int rope_dim : {32, 64, 128}) {
      for (const bool last : {false, true}) {
        if (rope_dim > head_dim) continue;
        const Model model = {"", {.interleaved = last, .last = last, .rope_dim = rope_dim}};
        TestIndexer& indexer = TestIndexer::Of(ConfigOf(model, "mxfp4", head_dim));
        QueryCase(indexer).Check();
        WriteCase(indexer, {.slots = {5, 6}}).Check();
      }
    }
  }
}

// B57: e_0 at position 0 is 128^-0.5 everywhere, for queries and keys alike.
TEST_F(RotationTest, B57_TheTransformIsNotDropped) {
  RopeInputs still;
  still.table.assign(64, 0);
  std::fill_n(still.table.begin(), 32, 1.f);
  still.positions = {0};
  const std::pair<const char*, std::uint8_t> codes[] = {{"fp8_e4m3", 0x7e}, {"mxfp4", 0x77}};
  for (const auto& [format, code] : codes) {
    TestIndexer& indexer = TestIndexer::Of(ConfigOf(kModels[0], format));
    std::vector<float> unit(8 * 128);
    unit[0] = 1;
    QueryCase query(indexer, {.tokens = 1, .q = unit, .rope = still});
    query.Check();
    const auto bytes = Size(indexer.row().values);
    const std::vector<std::uint8_t> wanted(bytes, code);
    EXPECT_TRUE(SameBytes(std::span(query.expected.rows.values).first(bytes), wanted));
    unit.resize(128);
    WriteCase key(indexer, {.slots = {0}, .k = unit, .rope = still});
    key.Check();
    EXPECT_TRUE(SameBytes(key.Page(0).first(bytes), wanted));
  }
  EXPECT_EQ(ir::RoundToBf16(1 / std::sqrt(128.f)), 0.08837890625f);
}

// B58: the row is read before it is written, so the output may take the input's place.
TEST_F(RotationTest, B58_InPlace) {
  QueryCase c(TestIndexer::Of(ConfigOf(kModels[2], "bf16")), {.tokens = 5});
  c.arguments.values = ViewOf(c.arguments.q.data, DType::kU8, {5, 8, 256});
  c.Check();
}

TEST_F(RotationTest, PositionsThatAreNone) {
  TestIndexer& indexer = TestIndexer::Of(ConfigOf(kModels[1], "mxfp4"));
  const std::vector<std::int64_t> none = {-1, 64, LLONG_MAX, LLONG_MIN};
  QueryCase c(indexer, {.tokens = 4});
  TestMemory memory(indexer.device());
  c.arguments.rope.positions = memory.Put(none, {4});
  ASSERT_TRUE(indexer->QuantizeQuery(c.arguments).ok());
  EXPECT_TRUE(SameBytes(memory.Read<std::uint8_t>(c.arguments.values),
                        std::vector<std::uint8_t>(4 * 8 * 64, kPoison)));
  WriteCase w(indexer, {.slots = {1, 2, 3, 4}});
  w.arguments.rope.positions = memory.Put(none, {4});
  ASSERT_TRUE(indexer->WriteCache(w.arguments).ok());
  EXPECT_TRUE(SameBytes(
      memory.Read<std::uint8_t>(ViewOf(w.arguments.pool.data, DType::kU8, {indexer->page_bytes()})),
      std::vector<std::uint8_t>(Size(indexer->page_bytes()), kPoison)));
}

TEST_F(RotationTest, TablesThatAreViews) {
  TestIndexer& indexer = TestIndexer::Of(ConfigOf(kModels[0], "fp8_e4m3"));
  for (const std::int64_t stride : {std::int64_t{100}, std::int64_t{1} << 31}) {
    QueryCase c(indexer, {.tokens = 3});
    TestMemory memory(indexer.device());
    c.arguments.rope.table = memory.Put(MakeRope(indexer, 3).table, {64, 64}, {stride});
    c.Check();
  }
}

}  // namespace
}  // namespace lijit::tests

// SPDX-License-Identifier: Apache-2.0
// Logic, shifts and bit fields against definitions written bit by bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

std::uint64_t MaskOf(unsigned bits) { return bits == 64 ? ~0ull : (1ull << bits) - 1; }

template <typename F>
void CheckRows(const std::string& text, std::initializer_list<unsigned> widths,
               const std::vector<std::vector<std::uint64_t>>& inputs, F expected) {
  const unsigned bits = *widths.begin();
  const auto results = Evaluate(text, widths, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_EQ(results[i], expected(inputs[i]) & MaskOf(bits)) << text << " row " << i;
  }
}

using Row = std::vector<std::uint64_t>;

TEST(BitsTest, Logic) {
  for (const unsigned bits : {16u, 32u, 64u}) {
    const auto inputs = IntegerInputs(bits, 2);
    const auto text = [&](const char* format) { return fmt::format(fmt::runtime(format), bits); };
    CheckRows(text("and.b{} %d, %a, %b;"), {bits, bits, bits}, inputs,
              [](const Row& r) { return r[0] & r[1]; });
    CheckRows(text("or.b{} %d, %a, %b;"), {bits, bits, bits}, inputs,
              [](const Row& r) { return r[0] | r[1]; });
    CheckRows(text("xor.b{} %d, %a, %b;"), {bits, bits, bits}, inputs,
              [](const Row& r) { return r[0] ^ r[1]; });
    CheckRows(text("not.b{} %d, %a;"), {bits, bits, bits}, inputs,
              [](const Row& r) { return ~r[0]; });
    CheckRows(text("cnot.b{} %d, %a;"), {bits, bits, bits}, inputs,
              [](const Row& r) { return std::uint64_t{r[0] == 0}; });
  }
}

TEST(BitsTest, PredicateLogic) {
  for (std::uint64_t a = 0; a < 2; ++a) {
    for (std::uint64_t b = 0; b < 2; ++b) {
      EXPECT_EQ(EvaluateOne("and.pred %d, %a, %b;", {1, 1, 1}, {a, b}), a & b);
      EXPECT_EQ(EvaluateOne("or.pred %d, %a, %b;", {1, 1, 1}, {a, b}), a | b);
      EXPECT_EQ(EvaluateOne("xor.pred %d, %a, %b;", {1, 1, 1}, {a, b}), a ^ b);
      EXPECT_EQ(EvaluateOne("not.pred %d, %a;", {1, 1}, {a}), 1 - a);
      EXPECT_EQ(EvaluateOne("and.pred %d, !%a, %b;", {1, 1, 1}, {a, b}), (1 - a) & b);
      EXPECT_EQ(EvaluateOne("mov.pred %d, %a;", {1, 1}, {a}), a);
    }
  }
}

TEST(BitsTest, Shifts) {
  for (const unsigned bits : {16u, 32u, 64u}) {
    std::vector<Row> inputs;
    for (const Row& row : IntegerInputs(bits, 1)) {
      for (const std::uint64_t amount : {0u, 1u, 5u, bits - 1, bits, bits + 1, 255u, 0xffffffffu}) {
        inputs.push_back({row[0], amount});
      }
    }
    const auto sign = [bits](std::uint64_t value) {
      return (value >> (bits - 1) & 1) != 0 ? value | ~MaskOf(bits) : value;
    };
    CheckRows(fmt::format("shl.b{} %d, %a, %b;", bits), {bits, bits, 32}, inputs,
              [&](const Row& r) { return r[1] >= bits ? 0 : r[0] << r[1]; });
    CheckRows(fmt::format("shr.u{} %d, %a, %b;", bits), {bits, bits, 32}, inputs,
              [&](const Row& r) { return r[1] >= bits ? 0 : r[0] >> r[1]; });
    CheckRows(fmt::format("shr.s{} %d, %a, %b;", bits), {bits, bits, 32}, inputs,
              [&](const Row& r) {
                const std::uint64_t amount = std::min<std::uint64_t>(r[1], bits - 1);
                return static_cast<std::uint64_t>(static_cast<std::int64_t>(sign(r[0])) >> amount);
              });
  }
}

TEST(BitsTest, FunnelShifts) {
  std::vector<Row> inputs;
  for (const Row& row : IntegerInputs(32, 2)) {
    for (const std::uint64_t amount : {0u, 1u, 13u, 31u, 32u, 33u, 64u}) {
      inputs.push_back({row[0], row[1], amount});
    }
  }
  const auto both = [](const Row& r) { return r[1] << 32 | r[0]; };
  const auto clamp = [](const Row& r) { return std::min<std::uint64_t>(r[2], 32); };
  const auto left = [&](const Row& r, std::uint64_t n) { return both(r) << n >> 32; };
  CheckRows("shf.l.clamp.b32 %d, %a, %b, %c;", {32, 32, 32, 32}, inputs,
            [&](const Row& r) { return left(r, clamp(r)); });
  CheckRows("shf.l.wrap.b32 %d, %a, %b, %c;", {32, 32, 32, 32}, inputs,
            [&](const Row& r) { return left(r, r[2] & 31); });
  CheckRows("shf.r.clamp.b32 %d, %a, %b, %c;", {32, 32, 32, 32}, inputs,
            [&](const Row& r) { return both(r) >> clamp(r); });
  CheckRows("shf.r.wrap.b32 %d, %a, %b, %c;", {32, 32, 32, 32}, inputs,
            [&](const Row& r) { return both(r) >> (r[2] & 31); });
}

TEST(BitsTest, Lop3HasAllTables) {
  for (unsigned table = 0; table < 256; ++table) {
    // Bit i of the inputs counts through all combinations of a, b and c.
    const auto result = EvaluateOne(fmt::format("lop3.b32 %d, %a, %b, %c, {};", table),
                                    {32, 32, 32, 32}, {0xf0, 0xcc, 0xaa});
    EXPECT_EQ(result & 0xff, table);
  }
}

TEST(BitsTest, Counts) {
  CheckRows("popc.b32 %d, %a;", {32, 32}, IntegerInputs(32, 1),
            [](const Row& r) { return std::uint64_t(std::popcount(r[0])); });
  CheckRows("popc.b64 %d, %a;", {32, 64}, IntegerInputs(64, 1),
            [](const Row& r) { return std::uint64_t(std::popcount(r[0])); });
  CheckRows("clz.b32 %d, %a;", {32, 32}, IntegerInputs(32, 1),
            [](const Row& r) { return std::uint64_t(std::countl_zero(r[0]) - 32); });
  CheckRows("clz.b64 %d, %a;", {32, 64}, IntegerInputs(64, 1),
            [](const Row& r) { return std::uint64_t(std::countl_zero(r[0])); });
}

TEST(BitsTest, Bfind) {
  const auto find = [](std::uint64_t value, unsigned bits, bool is_signed) {
    if (is_signed && (value >> (bits - 1) & 1) != 0) value = ~value & MaskOf(bits);
    for (unsigned i = bits; i-- > 0;) {
      if ((value >> i & 1) != 0) return std::uint64_t{i};
    }
    return ~std::uint64_t{0};
  };
  for (const unsigned bits : {32u, 64u}) {
    for (const bool is_signed : {false, true}) {
      const std::string type = fmt::format("{}{}", is_signed ? 's' : 'u', bits);
      CheckRows("bfind." + type + " %d, %a;", {32, bits}, IntegerInputs(bits, 1),
                [&](const Row& r) { return find(r[0], bits, is_signed); });
      CheckRows("bfind.shiftamt." + type + " %d, %a;", {32, bits}, IntegerInputs(bits, 1),
                [&](const Row& r) {
                  const std::uint64_t place = find(r[0], bits, is_signed);
                  return place == ~std::uint64_t{0} ? place : bits - 1 - place;
                });
    }
  }
}

TEST(BitsTest, Reverse) {
  for (const unsigned bits : {32u, 64u}) {
    CheckRows(fmt::format("brev.b{} %d, %a;", bits), {bits, bits}, IntegerInputs(bits, 1),
              [&](const Row& r) {
                std::uint64_t result = 0;
                for (unsigned i = 0; i < bits; ++i) result |= (r[0] >> i & 1) << (bits - 1 - i);
                return result;
              });
  }
}

std::vector<Row> FieldInputs(unsigned bits, unsigned values) {
  std::vector<Row> inputs;
  for (const Row& row : IntegerInputs(bits, values)) {
    if (inputs.size() > 60000) break;
    for (const std::uint64_t position : {0u, 1u, 7u, 31u, 32u, 63u, 64u, 255u, 256u}) {
      for (const std::uint64_t length : {0u, 1u, 8u, 31u, 32u, 33u, 64u, 255u}) {
        inputs.push_back(row);
        inputs.back().push_back(position);
        inputs.back().push_back(length);
      }
    }
  }
  return inputs;
}

// The loops of the PTX ISA's definitions.
std::uint64_t ExtractField(std::uint64_t a, unsigned bits, bool is_signed, const Row& place) {
  const unsigned msb = bits - 1;
  const std::uint64_t position = place[1] & 0xff;
  const std::uint64_t length = place[2] & 0xff;
  std::uint64_t sign = 0;
  if (is_signed && length != 0) {
    sign = a >> std::min<std::uint64_t>(position + length - 1, msb) & 1;
  }
  std::uint64_t d = 0;
  for (unsigned i = 0; i <= msb; ++i) {
    const std::uint64_t bit = i < length && position + i <= msb ? a >> (position + i) & 1 : sign;
    d |= bit << i;
  }
  return d;
}

TEST(BitsTest, ExtractField) {
  for (const unsigned bits : {32u, 64u}) {
    const auto inputs = FieldInputs(bits, 1);
    for (const bool is_signed : {false, true}) {
      CheckRows(fmt::format("bfe.{}{} %d, %a, %b, %c;", is_signed ? 's' : 'u', bits),
                {bits, bits, 32, 32}, inputs,
                [&](const Row& r) { return ExtractField(r[0], bits, is_signed, r); });
    }
  }
}

TEST(BitsTest, InsertField) {
  for (const unsigned bits : {32u, 64u}) {
    CheckRows(fmt::format("bfi.b{} %d, %a, %b, %c, %e;", bits), {bits, bits, bits, 32, 32},
              FieldInputs(bits, 2), [&](const Row& r) {
                std::uint64_t d = r[1];
                const std::uint64_t position = r[2] & 0xff;
                for (unsigned i = 0; i < (r[3] & 0xff) && position + i < bits; ++i) {
                  d = (d & ~(1ull << (position + i))) | (r[0] >> i & 1) << (position + i);
                }
                return d;
              });
  }
}

TEST(BitsTest, MasksAndExtension) {
  EXPECT_EQ(EvaluateOne("bmsk.clamp.b32 %d, %a, %b;", {32, 32, 32}, {4, 8}), 0xff0u);
  EXPECT_EQ(EvaluateOne("bmsk.clamp.b32 %d, %a, %b;", {32, 32, 32}, {32, 8}), 0u);
  EXPECT_EQ(EvaluateOne("bmsk.clamp.b32 %d, %a, %b;", {32, 32, 32}, {0, 40}), 0xffffffffu);
  EXPECT_EQ(EvaluateOne("bmsk.wrap.b32 %d, %a, %b;", {32, 32, 32}, {36, 33}), 0x10u);
  EXPECT_EQ(EvaluateOne("szext.clamp.s32 %d, %a, %b;", {32, 32, 32}, {0x1ff, 8}), 0xffffffffu);
  EXPECT_EQ(EvaluateOne("szext.clamp.u32 %d, %a, %b;", {32, 32, 32}, {0x1ff, 8}), 0xffu);
  EXPECT_EQ(EvaluateOne("szext.wrap.s32 %d, %a, %b;", {32, 32, 32}, {5, 34}), 1u);
  EXPECT_EQ(EvaluateOne("szext.clamp.u32 %d, %a, %b;", {32, 32, 32}, {5, 32}), 5u);
}

TEST(BitsTest, PermuteWithSigns) {
  std::vector<Row> inputs;
  for (const Row& row : IntegerInputs(32, 2)) inputs.push_back({row[0], row[1], row[0] ^ row[1]});
  CheckRows("prmt.b32 %d, %a, %b, %c;", {32, 32, 32, 32}, inputs, [](const Row& r) {
    std::uint64_t d = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned selector = r[2] >> (4 * i) & 15;
      const std::uint64_t word = selector & 4 ? r[1] : r[0];
      std::uint64_t byte = word >> (8 * (selector & 3)) & 0xff;
      if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
      d |= byte << (8 * i);
    }
    return d;
  });
}

TEST(BitsTest, PermuteModes) {
  // Bytes 0 to 7 of {a, b} are 0 to 7, so the result shows the selectors.
  const auto permute = [](const char* mode, std::uint64_t c) {
    return EvaluateOne(fmt::format("prmt.b32.{} %d, %a, %b, %c;", mode), {32, 32, 32, 32},
                       {0x03020100, 0x07060504, c});
  };
  using Expected = std::array<std::uint64_t, 4>;
  const std::pair<const char*, Expected> modes[] = {
      {"f4e", {0x03020100, 0x04030201, 0x05040302, 0x06050403}},
      {"b4e", {0x05060700, 0x06070001, 0x07000102, 0x00010203}},
      {"rc8", {0x00000000, 0x01010101, 0x02020202, 0x03030303}},
      {"ecl", {0x03020100, 0x03020101, 0x03020202, 0x03030303}},
      {"ecr", {0x00000000, 0x01010100, 0x02020100, 0x03020100}},
      {"rc16", {0x01000100, 0x03020302, 0x01000100, 0x03020302}}};
  for (const auto& [mode, expected] : modes) {
    for (std::uint64_t c = 0; c < 4; ++c) EXPECT_EQ(permute(mode, c), expected[c]) << mode << c;
  }
}

}  // namespace
}  // namespace lijit::emulator

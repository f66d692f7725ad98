// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and movmatrix, by the PTX ISA's figures: lane l has the elements
// (l / 4, 2 * (l % 4)) and (l / 4, 2 * (l % 4) + 1) of a matrix, or of its transpose.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {
namespace {

// Element (row, column) of matrix m of the test: its own number.
std::uint32_t Element(unsigned m, unsigned row, unsigned column) {
  return m * 1000 + row * 10 + column + 1;
}

std::uint32_t PairOfLane(unsigned m, unsigned lane, bool transposed) {
  const unsigned row = lane / 4;
  const unsigned column = lane % 4 * 2;
  if (transposed) return Element(m, column, row) | Element(m, column + 1, row) << 16;
  return Element(m, row, column) | Element(m, row, column + 1) << 16;
}

// Rows of 16 bytes lie 48 bytes apart in shared memory, in no order of their matrices: row r of
// matrix m is at 48 * ((7 * (8 * m + r)) % 32). %row is the address of the lane's own row.
constexpr std::string_view kPreamble = R"(.shared .align 16 .b8 tile[1536];
.reg .b64 %p, %g; .reg .b32 %t, %row, %v, %r<4>; .reg .b16 %h; .reg .pred %q;
mov.u32 %t, %tid.x;
ld.param.u64 %p, [data];
mad.wide.u32 %p, %t, 16, %p;
mov.u32 %row, tile;
mul.lo.u32 %v, %t, 7;
and.b32 %v, %v, 31;
mad.lo.u32 %row, %v, 48, %row;
)";

// Each thread writes its own row, from 16 bytes of data.
constexpr std::string_view kFill = R"(
ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%p];
st.shared.v4.b32 [%row], {%r0, %r1, %r2, %r3};
bar.warp.sync -1;
)";

std::vector<std::uint32_t> MatrixRows() {
  std::vector<std::uint32_t> words(128);
  for (unsigned i = 0; i < 128; ++i) {
    const unsigned lane = i / 4;
    const unsigned column = i % 4 * 2;
    words[i] = Element(lane / 8, lane % 8, column) | Element(lane / 8, lane % 8, column + 1) << 16;
  }
  return words;
}

Outcome RunMatrix(const std::string& text, std::vector<std::uint32_t> data) {
  RunOptions options;
  options.data = std::move(data);
  return RunBody(std::string(kPreamble) + text, options);
}

std::string Registers(unsigned count) {
  std::string text = "{%r0";
  for (unsigned i = 1; i < count; ++i) text += fmt::format(", %r{}", i);
  return text + "}";
}

TEST(MatrixTest, Loads) {
  for (const unsigned count : {1u, 2u, 4u}) {
    for (const bool transposed : {false, true}) {
      const std::string load = fmt::format(
          "ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [%row];\n"
          "st.global.v4.b32 [%p], {{%r0, %r1, %r2, %r3}};",
          count, transposed ? ".trans" : "", Registers(count));
      const Outcome outcome = RunMatrix(std::string(kFill) + load, MatrixRows());
      ASSERT_EQ(outcome.error + outcome.finding, "") << load;
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned m = 0; m < count; ++m) {
          ASSERT_EQ(outcome.data[lane * 4 + m], PairOfLane(m, lane, transposed)) << load << lane;
        }
      }
    }
  }
}

TEST(MatrixTest, AddressesOfLanesThatAreNotNeededDoNotCount) {
  const Outcome outcome =
      RunMatrix(std::string(kFill) +
                    "setp.ge.u32 %q, %t, 8;\n@%q mov.u32 %row, 0xfffff1;\n"
                    "ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%r0}, [%row];\n"
                    "st.global.b32 [%p], %r0;",
                MatrixRows());
  ASSERT_EQ(outcome.error + outcome.finding, "");
  EXPECT_EQ(outcome.data[31 * 4], PairOfLane(0, 31, false));
}

TEST(MatrixTest, GenericAddresses) {
  const Outcome outcome =
      RunMatrix(std::string(kFill) +
                    "cvt.u64.u32 %g, %row;\ncvta.shared.u64 %g, %g;\n"
                    "ldmatrix.sync.aligned.m8n8.x2.b16 {%r0, %r1}, [%g];\nst.global.b32 [%p], %r1;",
                MatrixRows());
  ASSERT_EQ(outcome.error + outcome.finding, "");
  EXPECT_EQ(outcome.data[20 * 4], PairOfLane(1, 20, false));
  const Outcome global = RunMatrix("ldmatrix.sync.aligned.m8n8.x1.b16 %r0, [%p];", MatrixRows());
  EXPECT_EQ(global.kind, "out-of-bounds");
  EXPECT_NE(global.finding.find("which is not in shared memory"), std::string::npos);
}

// What stmatrix stores, every thread reads back from its own row.
TEST(MatrixTest, Stores) {
  for (const unsigned count : {1u, 2u, 4u}) {
    for (const bool transposed : {false, true}) {
      std::vector<std::uint32_t> data(128);
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned m = 0; m < 4; ++m) data[lane * 4 + m] = PairOfLane(m, lane, transposed);
      }
      const std::string text = fmt::format(
          "ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%p];\n"
          "stmatrix.sync.aligned.m8n8.x{}{}.shared.b16 [%row], {};\nbar.warp.sync -1;\n"
          "setp.lt.u32 %q, %t, {};\n@%q ld.shared.v4.b32 {{%r0, %r1, %r2, %r3}}, [%row];\n"
          "st.global.v4.b32 [%p], {{%r0, %r1, %r2, %r3}};",
          count, transposed ? ".trans" : "", Registers(count), 8 * count);
      const Outcome outcome = RunMatrix(text, data);
      ASSERT_EQ(outcome.error + outcome.finding, "") << text;
      const std::vector<std::uint32_t> rows = MatrixRows();
      for (unsigned i = 0; i < 32 * count; ++i) ASSERT_EQ(outcome.data[i], rows[i]) << text << i;
    }
  }
}

TEST(MatrixTest, Transposes) {
  std::vector<std::uint32_t> data(128);
  for (unsigned lane = 0; lane < 32; ++lane) data[lane * 4] = PairOfLane(3, lane, false);
  const Outcome outcome = RunMatrix(
      "ld.global.b32 %r0, [%p];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r0, %r0;\n"
      "st.global.b32 [%p], %r0;",
      data);
  ASSERT_EQ(outcome.error + outcome.finding, "");
  for (unsigned lane = 0; lane < 32; ++lane) {
    ASSERT_EQ(outcome.data[lane * 4], PairOfLane(3, lane, true)) << lane;
  }
}

TEST(MatrixTest, AccessesAreChecked) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, ";
  const std::string fill(kFill);
  EXPECT_EQ(RunMatrix(load + "[%row];", MatrixRows()).kind, "uninitialized");
  EXPECT_EQ(RunMatrix(fill + load + "[%row+8];", MatrixRows()).kind, "misaligned");
  EXPECT_EQ(RunMatrix(fill + load + "[%row+1536];", MatrixRows()).kind, "out-of-bounds");
  EXPECT_EQ(RunMatrix(fill + "@%q " + load + "[%row];", MatrixRows()).finding, "");  // nobody
  EXPECT_EQ(RunMatrix(fill + "setp.lt.u32 %q, %t, 9;\n@%q " + load + "[%row];", MatrixRows()).kind,
            "divergence");
  // Lane 0 stores the matrix's first row; another thread writes there with no barrier in between.
  const std::string store = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%row], {%r0};\n";
  const std::string overwrite = "setp.eq.u32 %q, %t, 9;\n@%q st.shared.b32 [tile], %t;";
  EXPECT_EQ(RunMatrix(store + overwrite, MatrixRows()).kind, "race");
  EXPECT_EQ(RunMatrix(store + "bar.warp.sync -1;\n" + overwrite, MatrixRows()).finding, "");
}

TEST(MatrixTest, UnknownFormsAreErrors) {
  const auto error = [](const std::string& text) {
    return BodyError(std::string(kPreamble) + text);
  };
  EXPECT_NE(error("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1}, [%row];"), "");
  EXPECT_NE(error("ldmatrix.sync.aligned.m8n8.shared.b16 {%r0}, [%row];"), "");
  EXPECT_NE(error("ldmatrix.aligned.m8n8.x1.shared.b16 {%r0}, [%row];"), "");
  EXPECT_NE(error("ldmatrix.sync.aligned.m16n8k8.x1.shared.b16 {%r0}, [%row];"), "");
  EXPECT_NE(error("ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r0}, [%p];"), "");
  EXPECT_NE(error("movmatrix.sync.aligned.m8n8.b16 %r0, %r1;"), "");
}

}  // namespace
}  // namespace lijit::emulator

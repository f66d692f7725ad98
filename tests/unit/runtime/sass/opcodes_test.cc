// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/opcodes.h"

#include <set>

#include "tests/unit/runtime/sass/read_sass.h"

namespace lijit::sass {
namespace {

Instruction One(const std::string& text) { return Assemble({text}).instructions[0]; }

TEST(OpcodesTest, NoOpcodeStandsTwice) {
  std::set<std::string_view> names;
#define OPCODE(name, pipe) EXPECT_TRUE(names.insert(name).second) << (name);
#include "runtime/sass/opcodes.def"
  EXPECT_FALSE(PipeOf(One("FROB R1, R2")));
  EXPECT_EQ(PipeOf(One("IMAD.MOV.U32 R1, RZ, RZ, R2")), Pipe::kImad);
}

TEST(OpcodesTest, WideAccessesTakeMoreSlots) {
  const auto slots = [](const std::string& text) { return SlotsOf(One(text), Pipe::kLsu); };
  EXPECT_EQ(slots("LDS.128 R4, [R20]"), 4);
  EXPECT_EQ(slots("STG.E.64 [R2.64], R4"), 2);
  EXPECT_EQ(slots("LDG.E R4, [R2.64]"), 1);
  EXPECT_EQ(slots("LDSM.16.M88.4 R4, [R20]"), 4);
  EXPECT_EQ(SlotsOf(One("IMAD.WIDE R4, R2, R3, RZ"), Pipe::kImad), 1);
}

TEST(OpcodesTest, TensorShapesAndKinds) {
  struct Case {
    const char* text;
    TensorKind kind;
    std::int64_t macs;
    int m, a_register, a_registers;
  };
  const Case cases[] = {
      {"IMMA.16832.S8.S8 R24, R4.ROW, R16.COL, R28", TensorKind::kInt8, 4096, 16, 4, 4},
      {"HMMA.16816.F32 R24, R4, R16, RZ", TensorKind::kF16, 2048, 16, 4, 4},
      {"HMMA.1688.F32.TF32 R24, R4, R16, RZ", TensorKind::kOther, 1024, 16, 4, 4},
      {"QMMA.16832.F32.E4M3.E4M3 R24, R4, R16, RZ", TensorKind::kFp8, 4096, 16, 4, 4},
      {"QGMMA.64x64x32.F32.E4M3.E4M3 R24, R4, gdesc[UR8], R24", TensorKind::kFp8, 32768, 16, 4, 4},
      {"HGMMA.64x8x16.F32 R24, gdesc[UR4], R24", TensorKind::kF16, 2048, 16, -1, 4},
      // f32 sums are what is published for all; sums in halves are not the same rate everywhere.
      {"HMMA.16816.F16 R24, R4, R16, RZ", TensorKind::kOther, 2048, 16, -1, 0},
  };
  for (const Case& c : cases) {
    const std::optional<TensorOp> op = TensorOpOf(One(c.text));
    ASSERT_TRUE(op) << c.text;
    EXPECT_EQ(op->kind, c.kind) << c.text;
    EXPECT_EQ(op->macs(), c.macs) << c.text;
    EXPECT_EQ(op->m, c.m) << c.text;
    EXPECT_EQ(op->a_register, c.a_register) << c.text;
    EXPECT_EQ(op->a_registers, c.a_registers) << c.text;
  }
  for (const char* const none :
       {"IMMA.99999.S8.S8 R24, R4, R16, R28", "IMMA R24, R4, R16",
        "HGMMA.64x9999x16.F32 R24, R4, R6", "HGMMA.64x8 R24, R4, R6", "FFMA R1, R2, R3, R4"}) {
    EXPECT_FALSE(TensorOpOf(One(none))) << none;
  }
}

TEST(OpcodesTest, WhatIsWritten) {
  const auto written = [](const std::string& text) {
    const RegisterRange range = WrittenBy(One(text));
    return std::pair(range.first, range.count);
  };
  EXPECT_EQ(written("LOP3.LUT P0, R5, R4, R3, RZ, 0xc0, !PT"), std::pair(5, 1));
  EXPECT_EQ(written("SHFL.BFLY PT, R24, R25, 0x1, 0x1f"), std::pair(24, 1));
  EXPECT_EQ(written("LDG.E.128 R8, [R2.64]"), std::pair(8, 4));
  EXPECT_EQ(written("IMAD.WIDE.U32 R8, R2, R3, RZ"), std::pair(8, 2));
  EXPECT_EQ(written("IMMA.16832.S8.S8 R24, R4.ROW, R16.COL, R28"), std::pair(24, 4));
  EXPECT_EQ(written("IGMMA.64x32x32.S8.S8 R24, R4, gdesc[UR8], !UPT"), std::pair(24, 16));
  for (const char* const none : {"STG.E [R2.64], R4", "ISETP.NE.AND P0, PT, R1, R2, PT", "EXIT",
                                 "FCHK P0, R1, R2", "MOV RZ, R1", "RET.REL.NODEC R16 `(f)"}) {
    EXPECT_EQ(written(none), std::pair(-1, 0)) << none;
  }
}

}  // namespace
}  // namespace lijit::sass

// SPDX-License-Identifier: Apache-2.0
#include "tools/text_table.h"

#include <gtest/gtest.h>

namespace lijit::tools {
namespace {

TEST(TextTableTest, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(TextTable({"name", ">bytes", "note"}, {{"a", "12345678", ""}, {"longer", "1", "x"}}),
            "name       bytes  note\n"
            "a       12345678\n"
            "longer         1  x\n");
  EXPECT_EQ(TextTable({"a", "b"}, {}), "a  b\n");
}

TEST(TextTableTest, FieldsAlignEveryLineOfAValue) {
  EXPECT_EQ(TextFields({{"a", "1"}, {"long", "2\n3"}, {"b", ""}}),
            "a     1\n"
            "long  2\n"
            "      3\n"
            "b\n");
}

TEST(TextTableTest, Bytes) {
  EXPECT_EQ(TextBytes(0), "0 B");
  EXPECT_EQ(TextBytes(1023), "1023 B");
  EXPECT_EQ(TextBytes(1024), "1.0 KiB");
  EXPECT_EQ(TextBytes((1ull << 20) - 1), "1.0 MiB");
  EXPECT_EQ(TextBytes(3ull << 29), "1.5 GiB");
  EXPECT_EQ(TextBytes(~0ull), "16.0 EiB");
}

TEST(TextTableTest, NothingSteersTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[2J\r\n\tb\x7f"), "a?[2J?\n\tb?");
}

}  // namespace
}  // namespace lijit::tools

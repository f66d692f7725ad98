// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes are, the answer is an array that fits them or a message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/files.h"
#include "tools/npy.h"
#include "tools/npy_header.h"

namespace lijit::tools {
namespace {

using ::testing::HasSubstr;

std::string Good() {
  Result<std::string> bytes = ReadFile(std::string(LIJIT_SOURCE_DIR) + "/tests/data/npy/f4.npy");
  EXPECT_TRUE(bytes.ok());
  return bytes.ok() ? *std::move(bytes) : "";
}

// A file of version 1 with this header and as many bytes of data.
std::string WithHeader(const std::string& header, std::size_t data_bytes) {
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + std::string(data_bytes, '\0');
}

std::string ErrorOf(const std::string& bytes) {
  const Result<HostArray> array = ParseNpy(bytes, "x");
  EXPECT_FALSE(array.ok());
  return array.ok() ? "" : array.error().message;
}

TEST(NpyDamage, EveryTruncation) {
  const std::string good = Good();
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ParseNpy(good.substr(0, size), "x").ok()) << size;
  }
  EXPECT_THAT(ErrorOf(good + "x"), HasSubstr("does not fit the 25 bytes"));
}

// Changes before the data are errors or mean something else that fits; nothing is read outside.
TEST(NpyDamage, EveryByteChanged) {
  const std::string good = Good();
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char change : {'\0', '\x7f', '\xff', '9', '\'', '(', ')', ',', '-', ' '}) {
      std::string bytes = good;
      bytes[i] = change;
      const Result<HostArray> array = ParseNpy(bytes, "x");
      if (!array.ok()) continue;
      std::int64_t elements = 1;
      for (const std::int64_t size : array->shape) elements *= size;
      EXPECT_EQ(static_cast<std::size_t>(elements), array->data.size());
    }
  }
}

TEST(NpyDamage, MagicVersionAndLength) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("does not start as an .npy file does"));
  EXPECT_THAT(ErrorOf("PK\3\4 an archive"), HasSubstr("does not start as an .npy file does"));
  std::string version = Good();
  version[6] = '\4';
  EXPECT_THAT(ErrorOf(version), HasSubstr("its version is 4; 1, 2 and 3 are accepted"));
  std::string length = Good();
  length[9] = '\x7f';
  EXPECT_THAT(ErrorOf(length), HasSubstr("of which 142 are there"));
}

TEST(NpyDamage, Headers) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected '{' at byte 0"},
      {"{", "expected a string"},
      {"{'descr", "expected the end of a string"},
      {"{'descr' '<f4'}", "expected ':'"},
      {"{'descr': '<f4'}", "lacks one of"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", "expected True or False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': 2, }", "expected '('"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", "expected ')'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "expected a dimension"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
       "expected a dimension"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", "the end of the header"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': '1', }", "unknown key"},
  };
  for (const auto& [header, message] : cases) {
    EXPECT_THAT(ErrorOf(WithHeader(header, 8)), HasSubstr(message)) << header;
  }
  std::string deep = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 65; ++i) deep += "1,";
  EXPECT_THAT(ErrorOf(WithHeader(deep + ")}", 4)), HasSubstr("at most 64 dimensions"));
}

TEST(NpyDamage, ProductsThatOverflow) {
  for (const char* shape : {"(4294967296, 4294967296, 4)", "(4611686018427387904,)",
                            "(9223372036854775807, 2)", "(2, 4)"}) {
    const std::string header =
        std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape + ", }";
    EXPECT_THAT(ErrorOf(WithHeader(header, 0)), HasSubstr("does not fit the 0 bytes")) << shape;
  }
}

TEST(NpyDamage, OldAndUnusualHeadersAreRead) {
  for (const char* header :
       {"{'shape':(2L,),'descr':\"<f4\",'fortran_order':False}",
        "{ 'fortran_order' : False , 'descr' : '<f4' , 'shape' : ( 2 , ) } \n"}) {
    const Result<HostArray> array = ParseNpy(WithHeader(header, 8), "x");
    ASSERT_TRUE(array.ok()) << array.error().message;
    EXPECT_EQ(array->data.size(), 2u);
  }
}

}  // namespace
}  // namespace lijit::tools

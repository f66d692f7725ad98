// SPDX-License-Identifier: Apache-2.0
// `lijit dump` and `cubin-dump` of cubins and fatbins. (Entries: damage_test.cc.)
#include "tests/cli/cli_fixture.h"

namespace lijit::cli {
namespace {

using ::testing::HasSubstr;

class DumpCommand : public CliTest {
 protected:
  Answer CubinDump(const Arguments& arguments) const {
    return RunProgram({LIJIT_CUBIN_DUMP, arguments, environment_, "", ""}, Path("."));
  }
};

std::string Data(const std::string& name) { return SourcePath("tests/data/cubin/" + name); }

TEST_F(DumpCommand, BothProgramsSayTheSame) {
  for (const char* name : {"v7_sm_86.cubin", "v8_sm_120a.cubin", "mini_none.fatbin",
                           "mini_zstd.fatbin", "object_sm_86.cubin"}) {
    for (const bool as_json : {false, true}) {
      Arguments arguments = {Data(name)};
      if (as_json) arguments.emplace_back("--json");
      const Answer program = CubinDump(arguments);
      arguments.insert(arguments.begin(), "dump");
      const Answer command = Lijit(arguments);
      EXPECT_EQ(program.code, 0) << name;
      EXPECT_EQ(command.code, 0) << name;
      EXPECT_EQ(program.out, command.out);
      EXPECT_EQ(program.err + command.err, "");
    }
  }
}

TEST_F(DumpCommand, DamageIsDescribed) {
  const std::string good = Read(Data("v8_sm_90a.cubin"));
  const std::string half = Write("half.cubin", good.substr(0, good.size() / 2));
  const json dump = LijitJson({"dump", half}, 1);
  EXPECT_EQ(dump["kind"], "cubin");
  EXPECT_THAT(dump["target"].get<std::string>(), testing::StartsWith("sm_90"));
  EXPECT_FALSE(dump["problems"].empty());
  EXPECT_THAT(Lijit({"dump", half}).out, HasSubstr("PROBLEM"));
  const std::string stub = Write("stub.cubin", good.substr(0, 20));
  EXPECT_FALSE(LijitJson({"dump", stub}, 1)["problems"].empty());
  EXPECT_EQ(CubinDump({stub}).code, 1);
}

TEST_F(DumpCommand, OtherFilesAreNamed) {
  const std::pair<std::string, const char*> cases[] = {
      {Write("empty", ""), "the file is empty"},
      {Write("text", "just text"), "the file begins with 6a 75 73 74"},
      {Path("."), "is a directory"},
      {Path("absent"), "cannot be opened"},
  };
  for (const auto& [path, message] : cases) {
    const Answer answer = Lijit({"dump", path});
    EXPECT_EQ(answer.code, 2) << path;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, HasSubstr(message));
    EXPECT_THAT(answer.err, HasSubstr(path));
    EXPECT_EQ(CubinDump({path}).code, 2);
  }
  const json object = LijitJson({"dump", Write("zero", "")}, 2);
  EXPECT_EQ(object["error"]["code"], "invalid_argument");
}

TEST_F(DumpCommand, CubinDumpHasHelpAndUsageErrors) {
  EXPECT_EQ(CubinDump({"--help"}).code, 0);
  EXPECT_EQ(CubinDump({}).code, 2);
  EXPECT_EQ(CubinDump({"--fly"}).code, 2);
}

}  // namespace
}  // namespace lijit::cli

// SPDX-License-Identifier: Apache-2.0
// Targets, toolkits and parameters: real cubins of both generations, and synthetic ones for what
// no compiler at hand writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cache/cubin/synthetic_cubin.h"
#include "tests/unit/cache/cubin/test_files.h"

namespace lijit::cubin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Image Read(const SyntheticCubin& cubin) {
  const auto bytes = Build(cubin);
  Result<Image> image = ReadCubin(bytes);
  EXPECT_TRUE(image.ok());
  return image.ok() ? std::move(image).value() : Image{};
}

SyntheticCubin V8(std::uint32_t sm) {
  SyntheticCubin cubin;
  cubin.generation = 8;
  cubin.sm = sm;
  cubin.toolkit = 130;
  cubin.cuda_info = true;
  return cubin;
}

constexpr std::uint32_t Compat(std::uint32_t code, std::uint32_t value) {
  return 2 | code << 8 | value << 16;
}

struct RealFile {
  const char* name;
  const char* generation;
  const char* target;
  bool accelerated;
  bool family;
  const char* toolkit;
  std::vector<int> runs_on;
};

TEST(ImageTest, RealCubins) {
  const RealFile files[] = {
      {"v7_sm_86", "v7", "sm_86", false, false, "12.5", {86, 89}},
      {"v7_sm_90a", "v7", "sm_90a", true, false, "12.5", {90}},
      {"v8_sm_86", "v8", "sm_86", false, false, "13.0", {86, 89}},
      {"v8_sm_90a", "v8", "sm_90a", true, false, "13.0", {90}},
      {"v8_sm_100f", "v8", "sm_100f", false, true, "13.0", {100, 103}},
      {"v8_sm_120a", "v8", "sm_120a", true, false, "13.0", {120}},
      {"object_sm_86", "v8", "sm_86", false, false, "13.0", {}},
  };
  ASSERT_EQ(std::size(files), std::size(kCubinFiles));
  for (const RealFile& file : files) {
    SCOPED_TRACE(file.name);
    const Image image = TestImage(file.name);
    EXPECT_EQ(image.generation, file.generation);
    EXPECT_EQ(image.target, file.target);
    EXPECT_EQ(image.accelerated, file.accelerated);
    EXPECT_EQ(image.family, file.family);
    EXPECT_EQ(image.toolkit, file.toolkit);
    EXPECT_EQ(image.executable, std::string(file.name) != "object_sm_86");
    EXPECT_EQ(RunsOn(image), file.runs_on);
    EXPECT_THAT(image.problems, IsEmpty());
  }
}

TEST(ImageTest, RecordsOfTheTargetAreListed) {
  const Image image = TestImage("v8_sm_90a");
  ASSERT_EQ(image.target_records.size(), 4u);
  EXPECT_EQ(image.target_records[0].where, "e_flags 0x06005a04");
  EXPECT_EQ(image.target_records[0].says, "sm_90");
  EXPECT_EQ(image.target_records[1].where, ".nv.compat");
  EXPECT_EQ(image.target_records[1].says, "accelerated");
  EXPECT_EQ(image.target_records[2].says, "from compute_90");
  EXPECT_EQ(image.target_records[3].says, "sm_90a");
  ASSERT_EQ(image.tool_notes.size(), 1u);
  EXPECT_EQ(image.tool_notes[0].tool, "ptxas");
  EXPECT_EQ(image.tool_notes[0].version, "Cuda compilation tools, release 13.0, V13.0.88");
  EXPECT_THAT(image.tool_notes[0].command_line, HasSubstr("-arch sm_90a"));
}

TEST(ImageTest, ParametersHaveOffsetsAndSizes) {
  for (const char* name : kCubinFiles) {
    SCOPED_TRACE(name);
    const Image image = TestImage(name);
    const Kernel* kernel = FindKernel(image, "tiny_scale");
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(kernel->param_bytes, 21u);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> parameters;
    for (const Parameter& parameter : kernel->parameters)
      parameters.emplace_back(parameter.offset, parameter.bytes);
    EXPECT_THAT(parameters, ElementsAre(std::pair{0u, 8u}, std::pair{8u, 8u}, std::pair{16u, 4u},
                                        std::pair{20u, 1u}));
  }
}

TEST(ImageTest, SyntheticV7) {
  const Image image = Read({});
  EXPECT_THAT(image.problems, IsEmpty());
  EXPECT_EQ(image.generation, "v7");
  EXPECT_EQ(image.target, "sm_86");
  EXPECT_EQ(image.toolkit, "12.5");
  ASSERT_EQ(image.kernels.size(), 1u);
  const Kernel& kernel = image.kernels[0];
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.registers, 17u);
  EXPECT_EQ(kernel.shared_bytes, 256u);
  EXPECT_EQ(kernel.local_bytes, 40u);
  EXPECT_EQ(kernel.constant_bytes, 0x160u + 12u);
  EXPECT_EQ(kernel.max_threads, 256u);
  EXPECT_EQ(kernel.barriers, 3u);
  EXPECT_FALSE(kernel.spills.has_value());
}

// CUDA 12.9 is the first toolkit seen to annotate spills: before, that nothing is said means
// nothing.
TEST(ImageTest, SpillsAreKnownFromToolkit129) {
  const std::vector<std::uint32_t> annotations = {4 | 0x55 << 8 | 24 << 16, 1, 16, 1, 32, 2, 48};
  EXPECT_FALSE(Read({.toolkit = 125}).kernels.at(0).spills.has_value());
  EXPECT_EQ(Read({.toolkit = 129}).kernels.at(0).spills, 0u);
  EXPECT_EQ(Read({.toolkit = 129, .extra_records = annotations}).kernels.at(0).spills, 2u);
}

TEST(ImageTest, AcceleratedBitOfV7CountsFromSm90) {
  SyntheticCubin cubin{.sm = 90, .accelerated_flag = true, .param_base = 0x210};
  EXPECT_EQ(Read(cubin).target, "sm_90a");
  cubin.accelerated_flag = false;
  EXPECT_EQ(Read(cubin).target, "sm_90");
  EXPECT_EQ(Read({.sm = 89, .accelerated_flag = true}).target, "sm_89");
}

TEST(ImageTest, ReservedSharedMemoryIsNotCounted) {
  SyntheticCubin cubin{.sm = 90, .shared_section_bytes = 0x400 + 64, .param_base = 0x210};
  EXPECT_EQ(Read(cubin).kernels[0].shared_bytes, 64u);
  cubin.executable = false;  // the linker adds the reserved bytes later
  EXPECT_EQ(Read(cubin).kernels[0].shared_bytes, 0x400u + 64u);
}

TEST(ImageTest, UnknownSmIsData) {
  const Image image = Read(V8(342));
  EXPECT_EQ(image.target, "sm_342");
  EXPECT_THAT(image.problems, IsEmpty());
  EXPECT_THAT(RunsOn(image), IsEmpty());
}

TEST(ImageTest, AcceleratedByBitOrCompatOrNote) {
  SyntheticCubin cubin = V8(100);
  EXPECT_EQ(Read(cubin).target, "sm_100");
  EXPECT_FALSE(Read(cubin).target_suffix_known);
  cubin.accelerated_flag = true;  // CUDA 12.8 and 12.9
  EXPECT_EQ(Read(cubin).target, "sm_100a");
  cubin = V8(100);
  cubin.compat = {Compat(9, 1), Compat(2, 1)};
  EXPECT_EQ(Read(cubin).target, "sm_100a");
  cubin = V8(100);
  cubin.tool_command_lines = {"-arch=sm_100a -m 64"};
  EXPECT_EQ(Read(cubin).target, "sm_100a");
}

TEST(ImageTest, TheLastToolWithATargetCounts) {
  SyntheticCubin cubin = V8(100);
  cubin.tool_command_lines = {"JIT API Command Line Options", "-arch sm_100f -c  "};
  const Image image = Read(cubin);
  EXPECT_EQ(image.target, "sm_100f");
  EXPECT_TRUE(image.target_suffix_known);
  EXPECT_EQ(image.tool_notes.size(), 2u);
  EXPECT_THAT(image.problems, IsEmpty());
}

TEST(ImageTest, ContradictionsAreProblems) {
  SyntheticCubin sm = V8(90);
  sm.tool_command_lines = {"-arch sm_86"};
  EXPECT_THAT(Read(sm).problems, ElementsAre("e_flags say sm_90, .note.nv.tkinfo says sm_86"));

  SyntheticCubin marked = V8(100);
  marked.compat = {Compat(9, 1), Compat(2, 1)};
  marked.tool_command_lines = {"-arch sm_100f"};
  EXPECT_THAT(Read(marked).problems,
              ElementsAre("the image is marked as accelerated (\"a\"), but .note.nv.tkinfo says "
                          "sm_100f"));

  SyntheticCubin unmarked = V8(100);
  unmarked.compat = {Compat(9, 0), Compat(2, 1)};
  unmarked.tool_command_lines = {"-arch sm_100a"};
  EXPECT_EQ(Read(unmarked).problems.size(), 1u);

  SyntheticCubin flag = V8(100);
  flag.accelerated_flag = true;
  flag.compat = {Compat(9, 0), Compat(2, 1)};
  EXPECT_THAT(Read(flag).problems,
              ElementsAre("e_flags mark the image as accelerated (\"a\"), .nv.compat does not"));

  SyntheticCubin later = V8(86);
  later.virtual_sm = 89;
  EXPECT_THAT(Read(later).problems, ElementsAre(".note.nv.cuinfo says that the code comes from "
                                                "compute_89, which sm_86 cannot run"));
}

TEST(ImageTest, RelabelledV7IsFoundByItsParameterBase) {
  EXPECT_THAT(Read({.sm = 90, .param_base = 0x160}).problems,
              ElementsAre(HasSubstr("expect parameters at 0x160")));
  EXPECT_THAT(Read({.sm = 86, .param_base = 0x210}).problems, ElementsAre(HasSubstr("0x210")));
}

TEST(ImageTest, UnknownAttributesArePrintedInHex) {
  SyntheticCubin cubin;
  cubin.extra_records = {2 | 0xfe << 8 | 5 << 16, 4 | 0xfd << 8 | 4 << 16, 0xabcd, 1 | 0x67 << 8};
  const Image image = Read(cubin);
  EXPECT_THAT(image.problems, IsEmpty());
  const auto& attributes = image.kernels.at(0).attributes;
  ASSERT_GE(attributes.size(), 3u);
  const Attribute* last = &attributes[attributes.size() - 3];
  EXPECT_EQ(last[0].name, "0xfe");
  EXPECT_EQ(last[0].value, "0x5");
  EXPECT_EQ(last[1].name, "0xfd");
  EXPECT_EQ(last[1].value, "0xabcd");
  EXPECT_EQ(last[2].name, "0x67");
  EXPECT_EQ(last[2].value, "");
}

TEST(ImageTest, WideParameters) {
  SyntheticCubin cubin;
  cubin.param_bytes = 20016;
  cubin.extra_records = {4 | 0x45 << 8 | 12 << 16, 0, 2 | 12 << 16, 20004 | 3 << 16};
  const Image image = Read(cubin);
  EXPECT_THAT(image.problems, IsEmpty());
  ASSERT_EQ(image.kernels.at(0).parameters.size(), 3u);
  EXPECT_EQ(image.kernels[0].parameters[2].offset, 12u);
  EXPECT_EQ(image.kernels[0].parameters[2].bytes, 20004u);
}

TEST(ImageTest, ParametersOutsideTheirBlockAreAProblem) {
  EXPECT_THAT(Read({.param_bytes = 11}).problems,
              ElementsAre("kernel k: parameter 1 (4 bytes at 8) lies outside the 11 bytes of "
                          "parameters"));
}

}  // namespace
}  // namespace lijit::cubin

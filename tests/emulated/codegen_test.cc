// SPDX-License-Identifier: Apache-2.0
// Generated code against an interpreter of the IR: each op alone, then entries made at random. What
// each backend and the emulated device make of an entry is what its ops mean.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/lower/lower.h"
#include "compiler/support/float_text.h"
#include "runtime/toolchain/compilation.h"
#include "tests/support/emulated_entry.h"
#include "tests/support/op_entries.h"
#include "tests/support/random_entry.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit {
namespace {

constexpr std::uint32_t kBlocks = 3;

// Words that ops find hard among words of any bits.
std::vector<std::byte> HardWords(std::size_t bytes, unsigned seed) {
  constexpr std::uint32_t kHard[] = {0,          1,          0x80000000, 0xffffffff, 0x7fffffff,
                                     0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff,
                                     0x00000001, 0x80000001, 0x00800000, 0x40e00000, 0xc0400000};
  std::mt19937 random(seed);
  std::vector<std::byte> words(bytes);
  for (std::size_t at = 0; at < bytes; at += 4) {
    auto word = static_cast<std::uint32_t>(random());
    if (random() % 3 == 0) word = kHard[random() % std::size(kHard)];
    std::memcpy(words.data() + at, &word, 4);
  }
  return words;
}

template <typename T>
T At(const std::vector<std::byte>& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool SameFloat(const std::vector<std::byte>& a, const std::vector<std::byte>& b, std::size_t at) {
  const auto x = At<float>(a, at);
  const auto y = At<float>(b, at);
  return BitsOfFloat(x) == BitsOfFloat(y) || (std::isnan(x) && std::isnan(y));
}

std::string Words(const std::vector<std::byte>& bytes, std::size_t at) {
  if (at >= bytes.size()) return "nothing";
  return fmt::format("{:#x}", At<std::uint32_t>(bytes, at));
}

struct Outputs {
  std::vector<std::byte> interpreted;
  std::vector<std::byte> emulated;
};

// The same entry on the same input, both ways.
Outputs RunBoth(const ir::Module& module, std::string_view target, std::string_view backend,
                std::vector<std::byte>& in, std::size_t out_bytes,
                const std::vector<std::uint64_t>& numbers = {}) {
  Outputs outputs{std::vector<std::byte>(out_bytes), std::vector<std::byte>(out_bytes)};
  for (const bool emulated : {false, true}) {
    std::vector<std::byte>& out = emulated ? outputs.emulated : outputs.interpreted;
    std::vector<tests::EntryArgument> arguments = {&in, &out};
    arguments.insert(arguments.end(), numbers.begin(), numbers.end());
    const Status status = emulated ? tests::RunEmulated(module, target, backend, kBlocks, arguments)
                                   : tests::Interpret(module.kernels[0], kBlocks, arguments);
    EXPECT_TRUE(status.ok()) << status.error().message << "\n" << ir::Print(module);
  }
  return outputs;
}

std::string_view TargetFor(ir::OpCode code) {
  switch (code) {
    case ir::OpCode::kCvtE4m3x2:
    case ir::OpCode::kCvtFromE4m3x2:
      return "sm_89";
    case ir::OpCode::kCvtE2m1x2:
    case ir::OpCode::kCvtFromE2m1x2:
    case ir::OpCode::kCvtUe8m0:
      return "sm_120f";
    default:
      return "sm_80";
  }
}

class GeneratedCode : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Backends, GeneratedCode, testing::ValuesIn(tests::Backends()),
                         [](const testing::TestParamInfo<std::string>& param) {
                           return param.param;
                         });
// There may be none.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GeneratedCode);

TEST_P(GeneratedCode, EveryOpMeansWhatTheInterpreterSays) {
  for (const tests::OpEntry& one : tests::AllOpEntries()) {
    const std::size_t threads = kBlocks * static_cast<std::size_t>(one.module.kernels[0].threads);
    std::vector<std::byte> in = HardWords(threads * tests::kOpEntryInBytes, 7);
    const std::size_t out_bytes = threads * tests::kOpEntryOutBytes;
    const Outputs outputs = RunBoth(one.module, TargetFor(one.code), GetParam(), in, out_bytes);
    for (std::size_t at = 0; at < out_bytes; at += 4) {
      const std::size_t result = at % tests::kOpEntryOutBytes / 8;
      const bool is_float =
          result < one.results.size() && one.results[result] == ir::Scalar::kF32 && at % 8 == 0;
      const bool same = is_float || one.code == ir::OpCode::kStore
                            ? SameFloat(outputs.emulated, outputs.interpreted, at)
                            : At<std::uint32_t>(outputs.emulated, at) ==
                                  At<std::uint32_t>(outputs.interpreted, at);
      ASSERT_TRUE(same) << one.name << ", byte " << at << ": " << Words(outputs.emulated, at)
                        << " instead of " << Words(outputs.interpreted, at);
    }
  }
}

constexpr unsigned kSeeds = 80;

// The first byte of random entries' output that differs; the number of bytes if none does.
std::size_t Difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  for (std::size_t at = 0; at < a.size(); at += 4) {
    const bool is_float = at % tests::kRandomOutBytes >= tests::kRandomFloatsAt;
    const bool same =
        is_float ? SameFloat(a, b, at) : At<std::uint32_t>(a, at) == At<std::uint32_t>(b, at);
    if (!same) return at;
  }
  return a.size();
}

TEST_P(GeneratedCode, RandomEntriesMeanWhatTheInterpreterSays) {
  const std::size_t threads = kBlocks * std::size_t{tests::kRandomThreads};
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const ir::Module module = tests::RandomEntry(seed);
    ASSERT_TRUE(ir::Verify(module).empty()) << seed << ": " << ir::Verify(module)[0].message;
    std::vector<std::byte> in = HardWords(threads * tests::kRandomInBytes, seed);
    const std::size_t out_bytes = threads * tests::kRandomOutBytes;
    const Outputs outputs = RunBoth(module, "sm_86", GetParam(), in, out_bytes, {threads});
    const std::size_t at = Difference(outputs.emulated, outputs.interpreted);
    ASSERT_EQ(at, out_bytes) << "seed " << seed << ": " << Words(outputs.emulated, at)
                             << " instead of " << Words(outputs.interpreted, at) << "\n"
                             << ir::Print(module);
  }
}

// Simplifying changes no result but the bits of a NaN.
TEST(Simplify, RandomEntriesMeanTheSame) {
  const std::size_t threads = kBlocks * std::size_t{tests::kRandomThreads};
  for (unsigned seed = 1; seed <= 4 * kSeeds; ++seed) {
    ir::Module module = tests::RandomEntry(seed);
    std::vector<std::byte> in = HardWords(threads * tests::kRandomInBytes, seed);
    std::vector<std::byte> outputs[2];
    for (std::vector<std::byte>& out : outputs) {
      out.resize(threads * tests::kRandomOutBytes);
      const tests::EntryArgument arguments[] = {&in, &out, std::uint64_t{threads}};
      ASSERT_TRUE(tests::Interpret(module.kernels[0], kBlocks, arguments).ok());
      const auto target = target::ParseTarget("sm_86").value();
      ASSERT_TRUE(lower::RunPass(module, target, "simplify").ok());
    }
    ASSERT_EQ(Difference(outputs[0], outputs[1]), outputs[0].size()) << seed;
  }
}

// Not even in what compilers make of it: these targets have no such instructions.
TEST_P(GeneratedCode, OldTargetsPtxHasNoConversionsOfNarrowFloats) {
  for (const char* format : {"fp8_e4m3", "mxfp4", "nvfp4"}) {
    const ir::Module all = ir::IndexerOf(format, {{"heads", "8"}, {"dim", "64"}});
    for (const char* name : {"write_cache", "quantize_query", "logits_paged"}) {
      for (const char* target_name : {"sm_80", "sm_86"}) {
        const auto target = target::ParseTarget(target_name).value();
        const ir::Module one = lower::ExtractKernel(all, name).value();
        const ir::Module lowered = lower::Lower(one, target, "simt").value();
        const auto image = tests::CompileEntry(lowered, target, GetParam());
        ASSERT_TRUE(image.ok()) << image.error().message;
        const std::string ptx(runtime::ToText(*image));
        EXPECT_NE(ptx.find(fmt::format(".target {}", target_name)), std::string::npos);
        for (const char* part : {"e4m3", "e5m2", "e2m1", "ue8m0"}) {
          EXPECT_EQ(ptx.find(part), std::string::npos) << name << " " << format << ": " << part;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lijit

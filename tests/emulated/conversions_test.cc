// SPDX-License-Identifier: Apache-2.0
// Conversions of every format in generated code: the same bits in software and with the target's
// own instructions, in the evaluator's tables and in CUDA's host functions.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/codegen/cuda/emit_cuda.h"
#include "runtime/device/emulated_device.h"
#include "tests/support/conversions.h"
#include "tests/support/cuda_host_functions.h"
#include "tests/support/emulated_entry.h"
#include "tests/unit/compiler/ir/modules_for_tests.h"

namespace lijit {
namespace {

using ir::Format;
using tests::ConversionInputs;
using tests::ConversionOutputs;

// No conversions, E4M3's, and all of them.
constexpr const char* kTargets[] = {"sm_86", "sm_89", "sm_90a", "sm_100f", "sm_120f"};
constexpr std::size_t kSamples = 1 << 18;

ir::Module LoweredFor(const Format& format, std::string_view target) {
  return tests::LoweredConversions(format, target::ParseTarget(target).value());
}

std::string SourceFor(const Format& format, std::string_view target) {
  return codegen::EmitCuda(LoweredFor(format, target)).value();
}

// One format's generated code on one target's device, compiled once.
class Converter {
 public:
  Converter(const Format& format, std::string_view target, std::string_view backend)
      : format_(format), lowered_(LoweredFor(format, target)) {
    auto image = tests::CompileEntry(lowered_, target::ParseTarget(target).value(), backend);
    EXPECT_TRUE(image.ok()) << image.error().message;
    image_ = std::move(image).value();
    device_ = runtime::OpenEmulatedDevice(target).value();
  }

  ConversionOutputs Run(const ConversionInputs& inputs) const {
    const ir::Kernel& entry = lowered_.kernels[0];
    auto outputs = tests::RunConversions(
        entry, format_, inputs,
        [&](std::uint32_t blocks, std::span<const tests::EntryArgument> arguments) {
          return tests::RunEntry(*device_, image_, entry, blocks, arguments);
        });
    EXPECT_TRUE(outputs.ok()) << outputs.error().message;
    return outputs.ok() ? *std::move(outputs) : ConversionOutputs{};
  }

 private:
  const Format& format_;
  ir::Module lowered_;
  std::vector<std::byte> image_;
  std::shared_ptr<Device> device_;
};

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const Format& format : ir::AllFormats().formats) names.push_back(format.name);
  return names;
}

class Conversions : public testing::TestWithParam<std::string> {
 protected:
  const Format& format() const { return ir::FormatNamed(GetParam()); }
  // The targets whose code is not that of an earlier one.
  std::vector<std::string> Targets() const {
    std::vector<std::string> targets;
    std::vector<std::string> sources;
    for (const char* target : kTargets) {
      std::string source = SourceFor(format(), target);
      if (std::find(sources.begin(), sources.end(), source) != sources.end()) continue;
      targets.emplace_back(target);
      sources.push_back(std::move(source));
    }
    return targets;
  }
};

TEST_P(Conversions, EveryTargetHasTheEvaluatorsBits) {
  LIJIT_NEED_BACKEND();
  const ConversionInputs all_inputs[] = {tests::EveryBf16(format()), tests::EveryBoundary(format()),
                                         tests::SampledNumbers(format(), kSamples, 1)};
  std::vector<ConversionOutputs> expected;
  for (const ConversionInputs& inputs : all_inputs) {
    expected.push_back(tests::ExpectedConversions(format(), inputs));
  }
  for (const std::string& target : Targets()) {
    for (const std::string& backend : tests::Backends()) {
      const Converter converter(format(), target, backend);
      for (std::size_t i = 0; i < std::size(all_inputs); ++i) {
        ASSERT_EQ(tests::Difference(all_inputs[i], expected[i], converter.Run(all_inputs[i])), "")
            << target << " " << backend;
      }
    }
  }
}

// The evaluator is written from the formats' meaning, the headers from NVIDIA's: one more opinion.
TEST_P(Conversions, EveryBf16AsCudasHostFunctionsHaveIt) {
  if (!tests::HasCudaHostFunctions()) GTEST_SKIP() << "built without cuda_fp4.h and cuda_fp8.h";
  const auto host = tests::CudaHostFunctionsOf(format().element);
  if (!host) GTEST_SKIP() << "CUDA's headers have no element like that of " << GetParam();
  LIJIT_NEED_BACKEND();
  const ConversionInputs inputs = tests::EveryBf16(format());
  const int bits = format().element.Bits();
  const std::uint32_t mask = (1u << bits) - 1;
  for (const std::string& target : Targets()) {
    const ConversionOutputs outputs = Converter(format(), target, tests::Backends()[0]).Run(inputs);
    ConversionOutputs expected = outputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      expected.encoded[i] =
          host->encode(inputs.numbers[2 * i]) | host->encode(inputs.numbers[2 * i + 1]) << bits;
      expected.decoded[2 * i] = host->decode(inputs.codes[i] & mask);
      expected.decoded[2 * i + 1] = host->decode(inputs.codes[i] >> bits & mask);
    }
    ASSERT_EQ(tests::Difference(inputs, expected, outputs), "") << target;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Conversions, testing::ValuesIn(FormatNames()),
                         [](const testing::TestParamInfo<std::string>& param) {
                           return param.param;
                         });

// Where the header's least code is 0, that of the rule is 1.
TEST(ConversionsOfScales, EveryBf16AsCudasHostFunctionsHaveIt) {
  if (!tests::HasCudaHostFunctions()) GTEST_SKIP() << "built without cuda_fp4.h and cuda_fp8.h";
  LIJIT_NEED_BACKEND();
  const Format& format = ir::FormatNamed("mxfp4");
  const ConversionInputs inputs = tests::EveryBf16(format);
  for (const char* target : {"sm_86", "sm_100f", "sm_120f"}) {
    const ConversionOutputs outputs = Converter(format, target, tests::Backends()[0]).Run(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const float quotient = inputs.magnitudes[i] / 6.0f;
      ASSERT_EQ(outputs.scale_codes[i], std::max(*tests::CudaHostUe8m0(quotient), 1u))
          << target << " " << inputs.magnitudes[i];
    }
  }
}

struct NativeCase {
  const char* format;
  const char* target;
  std::string_view calls;  // the target's conversions, by their helpers; others must be absent
};

constexpr NativeCase kNativeCases[] = {
    {"fp8_e4m3", "sm_86", ""},
    {"fp8_e4m3", "sm_89", "cvt_e4m3x2 cvt_from_e4m3x2"},
    {"fp8_e4m3", "sm_90a", "cvt_e4m3x2 cvt_from_e4m3x2"},
    {"fp8_e4m3", "sm_120f", "cvt_e4m3x2 cvt_from_e4m3x2"},
    {"mxfp4", "sm_86", ""},
    {"mxfp4", "sm_90a", ""},
    {"mxfp4", "sm_100", ""},
    {"mxfp4", "sm_100f", "cvt_e2m1x2 cvt_from_e2m1x2 cvt_ue8m0"},
    {"mxfp4", "sm_120f", "cvt_e2m1x2 cvt_from_e2m1x2 cvt_ue8m0"},
    // Ties toward zero are not the instruction's; its codes are.
    {"mxfp4_deepgemm", "sm_100f", "cvt_from_e2m1x2 cvt_ue8m0"},
    {"mxfp4_ocp_floor", "sm_100f", "cvt_e2m1x2 cvt_from_e2m1x2"},
    {"mxfp8", "sm_100f", "cvt_e4m3x2 cvt_from_e4m3x2 cvt_ue8m0"},
    {"mxfp8_e5m2", "sm_100f", "cvt_ue8m0"},
    {"nvfp4", "sm_100f", "cvt_e2m1x2 cvt_from_e2m1x2"},
    {"bf16", "sm_120f", ""},
};

TEST(NativeConversions, AreUsedWhereTheyAgreeInEveryBit) {
  for (const NativeCase& one : kNativeCases) {
    const std::string source = SourceFor(ir::FormatNamed(one.format), one.target);
    for (const std::string_view name :
         {"cvt_e4m3x2", "cvt_from_e4m3x2", "cvt_e2m1x2", "cvt_from_e2m1x2", "cvt_ue8m0"}) {
      const std::string padded = " " + std::string(one.calls) + " ";
      const bool wanted = padded.find(" " + std::string(name) + " ") != std::string::npos;
      const bool called = source.find(std::string(name) + "(") != std::string::npos;
      EXPECT_EQ(called, wanted) << one.format << " on " << one.target << ": " << name;
    }
  }
}

}  // namespace
}  // namespace lijit

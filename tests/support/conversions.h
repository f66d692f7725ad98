// SPDX-License-Identifier: Apache-2.0
// All conversions of a format in one entry, with inputs for it and what must come out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/module.h"
#include "compiler/target/target.h"
#include "tests/support/entry_interpreter.h"

namespace lijit::tests {

// Thread i takes two numbers, one pair of codes and, if the format has block scales, one largest
// magnitude and one scale code.
struct ConversionInputs {
  std::vector<float> numbers;
  std::vector<std::uint32_t> codes;        // with noise above the pair
  std::vector<float> magnitudes;           // of which scales are made
  std::vector<std::uint32_t> scale_codes;  // 0 to 255

  std::size_t size() const { return codes.size(); }
};

struct ConversionOutputs {
  std::vector<std::uint32_t> encoded;
  std::vector<float> decoded;
  std::vector<std::uint32_t> scale_codes;
  std::vector<float> scale_numbers;
};

// An entry of mid-level ops, in a module that has only this format.
ir::Module ConversionModule(const ir::Format& format);
// The same after the passes that turn conversions into what the target has.
ir::Module LoweredConversions(const ir::Format& format, const target::Target& target);

// What the tables of evaluate_codes.h say.
ConversionOutputs ExpectedConversions(const ir::Format& format, const ConversionInputs& inputs);

// Runs an entry, with blocks of its size, on the inputs. `execute` gets blocks and arguments.
using Execute = std::function<Status(std::uint32_t blocks, std::span<const EntryArgument>)>;
Result<ConversionOutputs> RunConversions(const ir::Kernel& entry, const ir::Format& format,
                                         const ConversionInputs& inputs, const Execute& execute);

// The first difference, with the input that makes it; empty if there is none. A NaN equals a NaN.
std::string Difference(const ConversionInputs& inputs, const ConversionOutputs& expected,
                       const ConversionOutputs& actual);

// Every bfloat16 as first and as second number, every pair of codes of up to 8 bits, every code of
// 16 bits as first and as second, every scale code.
ConversionInputs EveryBf16(const ir::Format& format);
// Every code's number and the middle between neighbours, one f32 to either side of each, both
// signs; every code; infinities, NaN, subnormals, zeros.
ConversionInputs EveryBoundary(const ir::Format& format);
// f32 numbers of any bits, and as many within the format's range.
ConversionInputs SampledNumbers(const ir::Format& format, std::size_t count, unsigned seed);

}  // namespace lijit::tests

// SPDX-License-Identifier: Apache-2.0
// Runs small PTX texts on the emulator, for tests.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/device.h"
#include "runtime/emulator/launch.h"
#include "runtime/emulator/load.h"

namespace lijit::emulator {

// `body` as the kernel "k" with one 64-bit parameter "data", after a header of one fixed form. Line
// kBodyLine of the text is the first line of `body`.
inline constexpr int kBodyLine = 5;
std::string KernelText(std::string_view body);

// The error of loading a kernel, or "" when it loads.
std::string LoadError(std::string_view ptx, std::string_view kernel = "k");
std::string BodyError(std::string_view body);

struct Outcome {
  std::string error;    // of loading or launching
  std::string finding;  // the finding's message
  std::string kind;
  std::vector<std::uint32_t> data;
  std::uint64_t instructions = 0;
};

struct RunOptions {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{32, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::uint32_t> data = std::vector<std::uint32_t>(64);
  LaunchOptions launch{};
};

// Runs KernelText(body) with the address of `data`, an allocation of that name, as the parameter.
Outcome RunBody(std::string_view body, const RunOptions& options = {});
Outcome RunPtx(std::string_view ptx, const RunOptions& options = {});

// Executes one instruction (or several) for each row of inputs, one thread a row. The text's
// operands are registers %d (the result) and %a, %b, %c, %e, of the widths given: `widths[0]` is
// %d's, 1 means a predicate. Fails the test when the text does not run.
std::vector<std::uint64_t> Evaluate(std::string_view text, std::initializer_list<unsigned> widths,
                                    const std::vector<std::vector<std::uint64_t>>& inputs);

// One row of inputs.
std::uint64_t EvaluateOne(std::string_view text, std::initializer_list<unsigned> widths,
                          std::vector<std::uint64_t> inputs);

// Values worth trying: zeros, ones, boundaries, patterns and some random ones, as rows of
// `columns`.
std::vector<std::vector<std::uint64_t>> IntegerInputs(unsigned bits, unsigned columns);
std::vector<std::vector<std::uint64_t>> FloatInputs32(unsigned columns);

}  // namespace lijit::emulator

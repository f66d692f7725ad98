// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runtime/emulator/ptx_runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <span>

namespace lijit::emulator {
namespace {

constexpr std::string_view kNames = "abce";

std::vector<std::byte> AddressBlock(std::initializer_list<std::uint64_t> addresses) {
  std::vector<std::byte> block(addresses.size() * 8);
  std::size_t place = 0;
  for (const std::uint64_t address : addresses) {
    for (unsigned i = 0; i < 8; ++i) block[place++] = static_cast<std::byte>(address >> (8 * i));
  }
  return block;
}

std::string DeclareRegister(unsigned width, std::string_view name) {
  return width == 1 ? fmt::format(".reg .pred {};\n", name)
                    : fmt::format(".reg .b{} {};\n", width, name);
}

// Loads column `i` of the thread's row into the register.
std::string LoadInput(unsigned width, char name, std::size_t i) {
  std::string text = fmt::format("ld.global.u64 %x, [%row+{}];\n", 8 * i);
  if (width == 1) return text + fmt::format("setp.ne.u64 %{}, %x, 0;\n", name);
  if (width == 64) return text + fmt::format("mov.b64 %{}, %x;\n", name);
  return text + fmt::format("cvt.u{}.u64 %{}, %x;\n", width, name);
}

std::string StoreResult(unsigned width) {
  std::string text;
  if (width == 1) text = "selp.u64 %x, 1, 0, %d;\n";
  if (width == 64) text = "mov.b64 %x, %d;\n";
  if (text.empty()) text = fmt::format("cvt.u64.u{} %x, %d;\n", width);
  return text + "st.global.u64 [%out], %x;\nret;\n";
}

std::string EvaluationText(std::string_view text, std::span<const unsigned> widths,
                           std::size_t rows) {
  std::string ptx =
      ".version 9.0\n.target sm_120f\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 results) {\n"
      ".reg .b64 %x, %row, %out, %base;\n.reg .b32 %thread, %block;\n.reg .pred %beyond;\n";
  ptx += DeclareRegister(widths[0], "%d");
  for (std::size_t i = 1; i < widths.size(); ++i) {
    ptx += DeclareRegister(widths[i], fmt::format("%{}", kNames[i - 1]));
  }
  ptx += fmt::format(
      "mov.u32 %thread, %tid.x;\nmov.u32 %block, %ctaid.x;\n"
      "mad.lo.u32 %thread, %block, 256, %thread;\n"
      "setp.ge.u32 %beyond, %thread, {};\n@%beyond exit;\n"
      "ld.param.u64 %base, [in];\nmad.wide.u32 %row, %thread, 32, %base;\n"
      "ld.param.u64 %base, [results];\nmad.wide.u32 %out, %thread, 8, %base;\n",
      rows);
  for (std::size_t i = 1; i < widths.size(); ++i) {
    ptx += LoadInput(widths[i], kNames[i - 1], i - 1);
  }
  return ptx + std::string(text) + "\n" + StoreResult(widths[0]) + "}\n";
}

}  // namespace

std::string KernelText(std::string_view body) {
  return fmt::format(
      ".version 9.0\n.target sm_120f\n.address_size 64\n"
      ".visible .entry k(.param .u64 data) {{\n{}\n}}\n",
      body);
}

std::string LoadError(std::string_view ptx, std::string_view kernel) {
  GlobalMemory memory;
  const auto loaded = LoadKernel(ptx, kernel, memory);
  return loaded.ok() ? "" : loaded.error().message;
}

std::string BodyError(std::string_view body) { return LoadError(KernelText(body)); }

Outcome RunPtx(std::string_view ptx, const RunOptions& options) {
  GlobalMemory memory;
  Outcome outcome;
  outcome.data = options.data;
  const std::size_t bytes = options.data.size() * 4;
  const auto loaded = LoadKernel(ptx, "k", memory);
  if (!loaded.ok()) {
    outcome.error = loaded.error().message;
    return outcome;
  }
  const std::uint64_t address = memory.Allocate(bytes, "data").value();
  EXPECT_TRUE(memory.CopyIn(address, options.data.data(), bytes).ok());
  const LaunchShape shape{options.grid, options.block, options.dynamic_shared_bytes};
  const auto result =
      Launch((*loaded)->kernel, shape, AddressBlock({address}), memory, options.launch);
  if (!result.ok()) {
    outcome.error = result.error().message;
    return outcome;
  }
  if (result->finding) {
    outcome.finding = result->finding->message;
    outcome.kind = result->finding->kind;
  }
  outcome.instructions = result->instructions;
  EXPECT_TRUE(memory.CopyOut(outcome.data.data(), address, bytes).ok());
  return outcome;
}

Outcome RunBody(std::string_view body, const RunOptions& options) {
  return RunPtx(KernelText(body), options);
}

std::vector<std::uint64_t> Evaluate(std::string_view text, std::initializer_list<unsigned> widths,
                                    const std::vector<std::vector<std::uint64_t>>& inputs) {
  GlobalMemory memory;
  std::vector<std::uint64_t> flat(inputs.size() * 4);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t j = 0; j < inputs[i].size(); ++j) flat[i * 4 + j] = inputs[i][j];
  }
  std::vector<std::uint64_t> results(inputs.size());
  const std::span<const unsigned> all(widths.begin(), widths.size());
  const auto loaded = LoadKernel(EvaluationText(text, all, inputs.size()), "k", memory);
  if (!loaded.ok()) {
    ADD_FAILURE() << text << ": " << loaded.error().message;
    return results;
  }
  const std::uint64_t in = memory.Allocate(flat.size() * 8, "inputs").value();
  const std::uint64_t out = memory.Allocate(results.size() * 8, "results").value();
  EXPECT_TRUE(memory.CopyIn(in, flat.data(), flat.size() * 8).ok());
  const auto blocks = static_cast<std::uint32_t>((inputs.size() + 255) / 256);
  const LaunchShape shape{{blocks, 1, 1}, {256, 1, 1}, 0};
  const auto result = Launch((*loaded)->kernel, shape, AddressBlock({in, out}), memory, {});
  if (!result.ok() || result->finding) {
    ADD_FAILURE() << text << ": "
                  << (result.ok() ? result->finding->message : result.error().message);
    return results;
  }
  EXPECT_TRUE(memory.CopyOut(results.data(), out, results.size() * 8).ok());
  return results;
}

std::uint64_t EvaluateOne(std::string_view text, std::initializer_list<unsigned> widths,
                          std::vector<std::uint64_t> inputs) {
  return Evaluate(text, widths, {std::move(inputs)})[0];
}

namespace {

// All combinations of the values in the columns, and rows of random bits.
std::vector<std::vector<std::uint64_t>> Combine(const std::vector<std::uint64_t>& values,
                                                std::uint64_t mask, unsigned columns) {
  std::vector<std::vector<std::uint64_t>> rows{{}};
  for (unsigned column = 0; column < columns; ++column) {
    std::vector<std::vector<std::uint64_t>> longer;
    for (const auto& row : rows) {
      for (const std::uint64_t value : values) {
        longer.push_back(row);
        longer.back().push_back(value & mask);
      }
    }
    rows = std::move(longer);
  }
  std::mt19937_64 random(columns);
  for (int i = 0; i < 500; ++i) {
    rows.emplace_back();
    for (unsigned column = 0; column < columns; ++column) rows.back().push_back(random() & mask);
  }
  return rows;
}

}  // namespace

std::vector<std::vector<std::uint64_t>> IntegerInputs(unsigned bits, unsigned columns) {
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t top = std::uint64_t{1} << (bits - 1);
  std::vector<std::uint64_t> values{0, 1, 2, 7, 31, 32, 33, top - 1, top, top + 1, mask - 1, mask};
  if (columns < 3) values.insert(values.end(), {0x5555555555555555, 0x00ff00ff00ff00ff, 100, 255});
  return Combine(values, mask, columns);
}

std::vector<std::vector<std::uint64_t>> FloatInputs32(unsigned columns) {
  // Zeros, the least and largest subnormals and normals, ones and neighbours, infinities, NaN.
  std::vector<std::uint64_t> values;
  for (const std::uint32_t magnitude :
       {0x00000000u, 0x00000001u, 0x007fffffu, 0x00800000u, 0x3f800000u, 0x3f800001u, 0x7f7fffffu,
        0x7f800000u, 0x7fc12345u}) {
    values.push_back(magnitude);
    values.push_back(magnitude | 0x80000000u);
  }
  if (columns < 3) {
    for (const std::uint32_t extra : {0x3effffffu, 0x3f000000u, 0x40490fdbu, 0x4b000001u,
                                      0x4effffffu, 0x4f000000u, 0x5effffffu, 0x7f000000u}) {
      values.push_back(extra);
      values.push_back(extra | 0x80000000u);
    }
  }
  return Combine(values, 0xffffffff, columns);
}

}  // namespace lijit::emulator

// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/load.h"

#include <cstdint>
#include <vector>

#include "runtime/emulator/decode.h"
#include "runtime/emulator/ptx_parser.h"

namespace lijit::emulator {
namespace {

bool IsGlobal(const Variable& variable) {
  return variable.space == Space::kGlobal || variable.space == Space::kConst;
}

Status Initialize(const Variable& variable, std::uint64_t address,
                  const std::vector<std::uint64_t>& addresses, GlobalMemory& memory) {
  LIJIT_TRY(memory.CopyIn(address, variable.initial.data(), variable.initial.size()));
  for (const Relocation& relocation : variable.relocations) {
    const std::uint64_t value =
        (addresses[relocation.variable] + static_cast<std::uint64_t>(relocation.addend)) >>
        relocation.shift;
    LIJIT_TRY(memory.CopyIn(address + relocation.offset, &value, relocation.bytes));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<LoadedKernel>> LoadKernel(std::string_view ptx, std::string_view kernel,
                                                 GlobalMemory& memory) {
  auto loaded = std::make_unique<LoadedKernel>();
  LIJIT_ASSIGN(loaded->module, ParsePtx(ptx));
  const std::vector<Variable>& variables = loaded->module.variables;
  std::vector<std::uint64_t> addresses(variables.size());
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!IsGlobal(variables[i]) || variables[i].bytes == 0) continue;
    LIJIT_ASSIGN(addresses[i], memory.Allocate(variables[i].bytes, variables[i].name, true));
  }
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (addresses[i] == 0) continue;
    LIJIT_TRY(Initialize(variables[i], addresses[i], addresses, memory));
  }
  LIJIT_ASSIGN(loaded->kernel, Decode(loaded->module, kernel, addresses));
  return loaded;
}

}  // namespace lijit::emulator

// SPDX-License-Identifier: Apache-2.0
// Writes cubins of one kernel, for targets and records that no compiler at hand produces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lijit::cubin {

struct SyntheticCubin {
  int generation = 7;
  std::uint32_t sm = 86;
  bool accelerated_flag = false;  // bit 11 of e_flags (v7) or bit 3 (v8)
  std::uint32_t virtual_sm = 0;   // 0: the same as sm
  std::uint32_t toolkit = 125;
  bool executable = true;
  std::string kernel = "k";
  std::uint32_t registers = 17;
  std::uint64_t shared_section_bytes = 256;
  std::uint32_t barriers = 3;  // in the flags of the code section, as v7 does
  std::uint16_t param_base = 0x160;
  std::uint16_t param_bytes = 12;                         // a pointer and an int
  std::vector<std::uint32_t> extra_records = {};          // appended to the kernel's .nv.info
  std::optional<std::vector<std::uint32_t>> compat = {};  // .nv.compat; none if not set
  std::vector<std::string> tool_command_lines = {};       // a .note.nv.tkinfo each
  bool cuda_info = false;                                 // .note.nv.cuinfo
};

std::vector<std::byte> Build(const SyntheticCubin& cubin);

}  // namespace lijit::cubin

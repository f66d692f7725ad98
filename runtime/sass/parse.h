// SPDX-License-Identifier: Apache-2.0
// Reads SASS as nvdisasm -c prints it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit::sass {

struct Instruction {
  std::uint64_t address = 0;
  std::string guard;                   // "@!P0", or ""
  std::string name;                    // "IMMA.16832.S8.S8"
  std::vector<std::string> operands;   // "R80.ROW"
  std::vector<std::string> modifiers;  // "16832", "S8", "S8"
  std::vector<std::string> labels;     // that the operands name

  std::string_view opcode() const { return std::string_view(name).substr(0, name.find('.')); }
  bool HasModifier(std::string_view modifier) const;
};

// The code of a section: a kernel with the subroutines that it calls.
struct Function {
  std::string name;
  std::vector<Instruction> instructions;
  std::map<std::string, std::size_t, std::less<>> labels;  // the index that each stands before
};

// InvalidArgument names the line that is neither instruction, label nor directive.
Result<std::vector<Function>> ParseSass(std::string_view text);

// "R80" of "-R80.reuse"; -1 for RZ and everything else.
int RegisterOf(std::string_view operand);

}  // namespace lijit::sass

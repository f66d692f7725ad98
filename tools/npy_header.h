// SPDX-License-Identifier: Apache-2.0
// The header of an .npy file: a Python dictionary, padded with spaces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"

namespace lijit::tools {

struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } with its keys in any order.
// kInvalidArgument says what was expected where.
Result<NpyHeader> ParseNpyHeader(std::string_view text);

// The same as NumPy writes it, without padding.
std::string FormatNpyHeader(const NpyHeader& header);

}  // namespace lijit::tools

// SPDX-License-Identifier: Apache-2.0
// A small entry for each op that backends print and each type that it takes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/ir/module.h"

namespace lijit::tests {

// An entry of 64 threads that takes two arrays. Thread t of all of them reads 32 bytes of `in` from
// 32 * t on and writes result r, one number of its type, to `out` at 16 * t + 8 * r.
struct OpEntry {
  ir::OpCode code;
  std::string name;  // "add_i64"
  ir::Module module;
  std::vector<ir::Scalar> results;
};

constexpr std::size_t kOpEntryInBytes = 32;
constexpr std::size_t kOpEntryOutBytes = 16;

// One or more for every kAny and kLow op but `yield`, in the order of ops.def.
std::vector<OpEntry> AllOpEntries();

}  // namespace lijit::tests

// SPDX-License-Identifier: Apache-2.0
// Entries made at random, whose results depend on the ops' meaning alone.
#pragma once

#include <cstddef>

#include "compiler/ir/module.h"

namespace lijit::tests {

// A lowered module of one entry with parameters (%in: ptr, %out: ptr, %count: i64), the same for
// the same seed. Each of its threads reads kRandomInBytes of `in` and writes kRandomOutBytes of
// `out`: 64-bit integers, then f32 numbers from kRandomFloatsAt on. It has loops, branches, shared
// memory and exchanges between lanes; no shift is too far, no divisor 0, no access out of bounds or
// racing, and no bits of a NaN are looked at.
ir::Module RandomEntry(unsigned seed);

constexpr int kRandomThreads = 64;
constexpr std::size_t kRandomInBytes = 32;
constexpr std::size_t kRandomOutBytes = 32;
constexpr std::size_t kRandomFloatsAt = 16;

}  // namespace lijit::tests

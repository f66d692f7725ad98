// SPDX-License-Identifier: Apache-2.0
// Products of matrices through mma.sync, for tests: the fragments are packed as the PTX ISA numbers
// their elements.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "runtime/emulator/float_formats.h"
#include "tests/unit/runtime/emulator/ptx_runner.h"

namespace lijit::emulator {

struct Shape {
  std::string suffixes;  // after mma.sync.aligned.
  unsigned bits;         // of an element of A and B
  unsigned k;
};

using Codes = std::vector<std::uint32_t>;  // elements of a matrix by rows, not decoded

struct Product {
  Codes a;  // 16 x k
  Codes b;  // k x 8
  Codes c;  // 16 x 8, 32 bits
};

Product Zeros(const Shape& shape);

// Word w of lane l at [w * 32 + l]: first A's registers, then B's, then C's.
std::vector<std::uint32_t> Pack(const Shape& shape, const Product& product);

// D, by rows, from the first four words of the lanes.
Codes Unpack(const std::vector<std::uint32_t>& words);

// A kernel's body that loads the fragments into %a0..., %b0..., %c0..., executes `text`, and stores
// %d0... over the first four words. %p is the address of the lane's first word, %t the lane; %q is
// a free predicate.
std::string MmaBody(const Shape& shape, const std::string& text);

std::string MmaInstruction(const Shape& shape, const std::string& d = "{%d0, %d1, %d2, %d3}");

// D, by rows; fails the test when the kernel does not run.
Codes Multiply(const Shape& shape, const Product& product);

struct FloatCase {
  Shape shape;
  FloatFormat a;
  FloatFormat b;
};

// Rounds an exact sum of integers times 2^unit with wide integers only: a second way, independent
// of ExactSum. All summands must be multiples of 2^unit and below 2^(unit + 120).
float RoundedSum(const std::vector<double>& summands, int unit);

// A random code of a finite number whose exponent lies in a range of `spread` around 0.
std::uint32_t RandomFloat(const FloatFormat& format, std::mt19937& random, unsigned spread);

}  // namespace lijit::emulator

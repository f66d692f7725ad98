// SPDX-License-Identifier: Apache-2.0
// What must hold of a module. Each rule's name stands in the messages and in docs/ir.md, and each
// has a file test that breaks it (tests/filetests/verifier).
//
// Formats
//   element-bits     sign, exponent and mantissa are 4, 8 or 16 bits; exponent 1 to 8, mantissa 0
//                    to 10 bits; the bias keeps every magnitude within f32
//   element-nan      the code of NaN is a code; infinity needs special = ieee
//   block-scale      size 16 or 32; floors are finite and not negative; ue8m0 needs a power-of-two
//                    rule and no row scale, e4m3 the exact rule and a row scale; the element's
//                    largest magnitude is at least 1
//   row-scale        exact or pow2_ceil; the floor keeps the scale a normal f32; the element's
//                    largest magnitude is at least 1
// Layouts
//   layout           tokens 16, 32, 64, 128 or 256; align a power of two of at least 64
// Kernels
//   signature        parameters and results are those of the kernel's kind
//   dimensions       head_dim is 32, 64, 128 or 256 and whole blocks; heads 8, 16, 32, 64 or 128
//   layout-use       the kinds that read or write pages have a layout, the others none
//   launch           entries have 32 to 1024 threads in whole warps and tiles of at least 1
// Ops
//   level            kernels hold kAny and kHigh ops, entries kAny, kMid and kLow ones
//   operands         the number of operands, results and regions is the op's
//   attributes       an op has the attributes of its row, once each, and no others
//   type-mismatch    operand and result types obey the op's rule
//   dominance        a value is used after its definition, in its region or one inside of it
//   yield            a region ends in its only yield, which hands out the region's types
#pragma once

#include <vector>

#include "compiler/ir/module.h"
#include "compiler/support/diagnostic.h"

namespace lijit::ir {

// All violations, in the order of the text; empty if the module is sound.
std::vector<Diagnostic> Verify(const Module& module);

}  // namespace lijit::ir

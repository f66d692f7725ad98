// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files (numpy.lib.format, "NPY format"): versions 1, 2 and 3, little-endian, C order.
// Files come from anywhere: every byte is checked before it is believed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lijit/result.h"
#include "lijit/run.h"

namespace lijit::tools {

// The array in a file's bytes, as f32. Accepted are f16, f32, f64, int32 and int64; f64 and
// integers are rounded to nearest even. kInvalidArgument, beginning with `name`, for anything else:
// another dtype, Fortran order, a wrong length, an f64 number too large for f32.
Result<HostArray> ParseNpy(std::string_view bytes, std::string_view name);

// A version 1 file of f32 or int32; the shape's product is the number of values (checked).
std::string FormatNpy(std::span<const std::int64_t> shape, std::span<const float> values);
std::string FormatNpy(std::span<const std::int64_t> shape, std::span<const std::int32_t> values);

}  // namespace lijit::tools

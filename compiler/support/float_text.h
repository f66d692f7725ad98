// SPDX-License-Identifier: Apache-2.0
// f32 numbers as text that loses no bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lijit {

// The shortest decimal that reads back as the same bits; "inf", "-inf"; "nan" for the canonical
// quiet NaN 0x7fc00000 and "nan(0x7f800001)" for any other.
std::string FloatToText(float value);

// Reads what FloatToText wrote, and every C decimal and hexadecimal floating literal
// ("0x1.8p-124").
std::optional<float> FloatFromText(std::string_view text);

inline float FloatFromBits(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline std::uint32_t BitsOfFloat(float value) { return __builtin_bit_cast(std::uint32_t, value); }

}  // namespace lijit

// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <random>

#include "compiler/ir/evaluate_codes.h"
#include "compiler/support/float_text.h"
#include "tests/support/conversions.h"

namespace lijit::tests {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::size_t kBf16Count = 65536;

// A permutation of 16-bit numbers without short cycles.
std::uint32_t Partner(std::uint32_t i) { return (i * 40503u + 12345u) & 0xffff; }

// Scales are made of numbers that are not negative; NaN is left out of them unless it propagates.
bool IsMagnitude(const ir::Format& format, float x) {
  const bool propagates = format.block_scale->nonfinite == ir::Nonfinite::kPropagate;
  return !std::signbit(x) && (propagates || !std::isnan(x));
}

// 2^bits of them have every code as first and as second, 2^(2 * bits) every pair. Above the pair
// lies noise.
std::uint32_t CodePair(const ir::Format& format, std::uint32_t i) {
  const int bits = format.element.Bits();
  const std::uint32_t mask = (1u << bits) - 1;
  const std::uint32_t first = i & mask;
  const std::uint32_t second = ((i >> bits) + i * 40503u) & mask;
  const std::uint32_t noise = bits == 16 ? 0 : i * 2654435761u << (2 * bits);
  return first | second << bits | noise;
}

// Completes inputs that have numbers.
void FillRest(const ir::Format& format, ConversionInputs& inputs) {
  if (inputs.numbers.size() % 2 != 0) inputs.numbers.push_back(0);
  for (std::uint32_t i = 0; i < inputs.numbers.size() / 2; ++i) {
    inputs.codes.push_back(CodePair(format, i));
    if (!format.block_scale) continue;
    const float x = std::fabs(inputs.numbers[2 * i]);
    inputs.magnitudes.push_back(IsMagnitude(format, x) ? x : 1.0f);
    inputs.scale_codes.push_back(i & 0xff);
  }
}

void PushAround(std::vector<float>& numbers, float x) {
  for (const float y : {x, std::nextafter(x, kInfinity), std::nextafter(x, -kInfinity)}) {
    numbers.push_back(y);
    numbers.push_back(-y);
  }
}

}  // namespace

ConversionInputs EveryBf16(const ir::Format& format) {
  ConversionInputs inputs;
  for (std::uint32_t i = 0; i < kBf16Count; ++i) {
    inputs.numbers.push_back(FloatFromBits(i << 16));
    inputs.numbers.push_back(FloatFromBits(Partner(i) << 16));
  }
  FillRest(format, inputs);
  return inputs;
}

ConversionInputs EveryBoundary(const ir::Format& format) {
  const ir::ElementCodes codes(format.element);
  ConversionInputs inputs;
  std::vector<float>& numbers = inputs.numbers;
  const std::uint32_t last = format.element.MaxCode();
  for (std::uint32_t code = 0; code <= last; ++code) {
    const float x = codes.Decode(code);
    // Beyond the last code it is the step below it that goes on.
    const float step = code < last ? codes.Decode(code + 1) - x : x - codes.Decode(code - 1);
    PushAround(numbers, x);
    PushAround(numbers, x + step / 2);
    if (code == last) PushAround(numbers, x + step);
    // Scales change at powers of two and just beside them.
    PushAround(numbers, x * format.element.Max());
  }
  for (const float x : {0.0f, kInfinity, std::numeric_limits<float>::max(), 0x1p-126f, 0x1p-127f,
                        0x1p-149f, 0x1.8p-149f, std::numeric_limits<float>::quiet_NaN(),
                        FloatFromBits(0x7f800001), 0x1p126f, 0x1p127f}) {
    PushAround(numbers, x);
  }
  // As many threads as there are codes, of elements and of scales.
  const std::size_t threads = std::size_t{1} << std::max(format.element.Bits(), 8);
  while (numbers.size() < 2 * threads) numbers.push_back(0);
  FillRest(format, inputs);
  return inputs;
}

ConversionInputs SampledNumbers(const ir::Format& format, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  ConversionInputs inputs;
  const int range = std::ilogb(format.element.Max()) + 2;
  const int depth = 2 << format.element.exponent;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    inputs.numbers.push_back(FloatFromBits(bits));
    const float fraction = FloatFromBits((bits & 0x807fffff) | BitsOfFloat(1.0f));
    const int down = static_cast<int>(random() % static_cast<unsigned>(depth));
    inputs.numbers.push_back(std::ldexp(fraction, range - down));
  }
  FillRest(format, inputs);
  return inputs;
}

}  // namespace lijit::tests

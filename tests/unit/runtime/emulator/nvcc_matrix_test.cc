// SPDX-License-Identifier: Apache-2.0
// Matrix products compiled by CUDA 13.0 for three architectures (data/matrix_kernels.cu): cp.async,
// ldmatrix and mma together, against host code.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "runtime/emulator/float_formats.h"
#include "tests/unit/runtime/emulator/kernel_runner.h"

namespace lijit::emulator {
namespace {

class NvccMatrixTest : public KernelTest {
 protected:
  NvccMatrixTest() : KernelTest("matrix_kernels") {}

  std::vector<std::uint8_t> RandomBytes(std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random_());
    return bytes;
  }

  // Codes of multiples of 1/4 up to 2: sums of their products are exact in float.
  template <typename T>
  std::vector<T> RandomFloats(std::size_t count, const FloatFormat& format) {
    std::vector<T> codes(count);
    for (auto& code : codes) {
      const double value = (static_cast<double>(random_() % 17) - 8) / 4;
      code = static_cast<T>(EncodeFloat(format, value, Rounding::kNearestEven, true));
    }
    return codes;
  }

  // Launches one warp on A (16 rows of `bytes`) and B (`columns` rows of `bytes`).
  template <typename Sum, typename T>
  std::vector<Sum> Multiply(const char* name, const std::vector<T>& a, const std::vector<T>& b,
                            int bytes, int columns) {
    const std::uint64_t out = Reserve<Sum>(128, "out");
    Run(name, {{1, 1, 1}, {32, 1, 1}, 0},
        Parameters().Add(Upload(a, "a")).Add(Upload(b, "b")).Add(out).Add(bytes).Add(columns));
    return Download<Sum>(out, 128);
  }

  std::mt19937 random_{5};
};

INSTANTIATE_TEST_SUITE_P(Architectures, NvccMatrixTest, testing::Values("80", "90", "120f"),
                         [](const auto& instance) { return "compute_" + instance.param; });

// The sum over k of product(row, column, k), which is 0 for columns that are not there.
double Dot(int row, int column, int columns, int depth,
           const std::function<double(int, int, int)>& product) {
  double sum = 0;
  for (int k = 0; k < depth && column < columns; ++k) sum += product(row, column, k);
  return sum;
}

TEST_P(NvccMatrixTest, S8) {
  for (const int columns : {8, 5}) {
    constexpr int kBytes = 128;
    const auto a = RandomBytes(16 * kBytes);
    const auto b = RandomBytes(static_cast<std::size_t>(columns * kBytes));
    const auto c = Multiply<std::int32_t>("multiply_s8", a, b, kBytes, columns);
    for (int i = 0; i < 128; ++i) {
      const double expected = Dot(i / 8, i % 8, columns, kBytes, [&](int row, int column, int k) {
        return static_cast<std::int8_t>(a[static_cast<std::size_t>(row * kBytes + k)]) *
               static_cast<std::int8_t>(b[static_cast<std::size_t>(column * kBytes + k)]);
      });
      ASSERT_EQ(c[static_cast<std::size_t>(i)], expected) << i;
    }
  }
}

TEST_P(NvccMatrixTest, Bf16) {
  constexpr int kDepth = 80;
  const auto a = RandomFloats<std::uint16_t>(16 * kDepth, kBf16Format);
  const auto b = RandomFloats<std::uint16_t>(6 * kDepth, kBf16Format);
  const auto c = Multiply<float>("multiply_bf16", a, b, 2 * kDepth, 6);
  for (int i = 0; i < 128; ++i) {
    const double expected = Dot(i / 8, i % 8, 6, kDepth, [&](int row, int column, int k) {
      return DecodeFloat(kBf16Format, a[static_cast<std::size_t>(row * kDepth + k)]) *
             DecodeFloat(kBf16Format, b[static_cast<std::size_t>(column * kDepth + k)]);
    });
    ASSERT_EQ(c[static_cast<std::size_t>(i)], expected) << i;
  }
}

TEST_P(NvccMatrixTest, F16WithTransposedFragments) {
  constexpr int kDepth = 64;
  const auto a = RandomFloats<std::uint16_t>(16 * kDepth, kF16Format);
  const auto b = RandomFloats<std::uint16_t>(8 * kDepth, kF16Format);
  const std::uint64_t out = Reserve<float>(128, "out");
  Run("multiply_f16", {{1, 1, 1}, {32, 1, 1}, 0},
      Parameters().Add(Upload(a, "a")).Add(Upload(b, "b")).Add(out).Add(kDepth));
  const auto c = Download<float>(out, 128);
  for (int i = 0; i < 128; ++i) {
    const double expected = Dot(i / 8, i % 8, 8, kDepth, [&](int row, int column, int k) {
      return DecodeFloat(kF16Format, a[static_cast<std::size_t>(row * kDepth + k)]) *
             DecodeFloat(kF16Format, b[static_cast<std::size_t>(k * 8 + column)]);
    });
    ASSERT_EQ(c[static_cast<std::size_t>(i)], expected) << i;
  }
}

TEST_P(NvccMatrixTest, E4m3) {
  if (GetParam() == "80") GTEST_SKIP() << "sm_80 has no e4m3";
  constexpr int kBytes = 96;
  const auto a = RandomFloats<std::uint8_t>(16 * kBytes, kE4m3Format);
  const auto b = RandomFloats<std::uint8_t>(8 * kBytes, kE4m3Format);
  const auto c = Multiply<float>("multiply_e4m3", a, b, kBytes, 8);
  for (int i = 0; i < 128; ++i) {
    const double expected = Dot(i / 8, i % 8, 8, kBytes, [&](int row, int column, int k) {
      return DecodeFloat(kE4m3Format, a[static_cast<std::size_t>(row * kBytes + k)]) *
             DecodeFloat(kE4m3Format, b[static_cast<std::size_t>(column * kBytes + k)]);
    });
    ASSERT_EQ(c[static_cast<std::size_t>(i)], expected) << i;
  }
}

TEST_P(NvccMatrixTest, Mxf4) {
  if (GetParam() != "120f") GTEST_SKIP() << "block scales need sm_120";
  const auto a = RandomBytes(16 * 32);
  const auto b = RandomBytes(8 * 32);
  std::vector<std::uint8_t> a_scales(32);
  std::vector<std::uint8_t> b_scales(16);
  for (auto& scale : a_scales) scale = static_cast<std::uint8_t>(125 + random_() % 5);
  for (auto& scale : b_scales) scale = static_cast<std::uint8_t>(125 + random_() % 5);
  const std::uint64_t out = Reserve<float>(128, "out");
  Run("multiply_mxf4", {{1, 1, 1}, {32, 1, 1}, 0},
      Parameters()
          .Add(Upload(a, "a"))
          .Add(Upload(b, "b"))
          .Add(Upload(a_scales, "scales of a"))
          .Add(Upload(b_scales, "scales of b"))
          .Add(out));
  const auto c = Download<float>(out, 128);
  const auto element = [](const std::vector<std::uint8_t>& codes,
                          const std::vector<std::uint8_t>& scales, int row, int k) {
    const std::uint8_t byte = codes[static_cast<std::size_t>(row * 32 + k / 2)];
    return DecodeFloat(kE2m1Format, byte >> k % 2 * 4 & 0xf) *
           DecodeUe8m0(scales[static_cast<std::size_t>(row * 2 + k / 32)]);
  };
  for (int i = 0; i < 128; ++i) {
    const double expected = Dot(i / 8, i % 8, 8, 64, [&](int row, int column, int k) {
      return element(a, a_scales, row, k) * element(b, b_scales, column, k);
    });
    ASSERT_EQ(c[static_cast<std::size_t>(i)], expected) << i;
  }
}

}  // namespace
}  // namespace lijit::emulator

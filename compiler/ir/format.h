// SPDX-License-Identifier: Apache-2.0
// How a row of numbers is stored, and how rows lie in a page. Plain data: see format.def for the
// meaning of each field. All arithmetic on formats elsewhere is derived from these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/support/diagnostic.h"

namespace lijit::ir {

enum class Special : std::uint8_t { kNone, kNan, kIeee };
enum class Overflow : std::uint8_t { kSaturate, kInfinity };
enum class Ties : std::uint8_t { kEven, kZero };
enum class Zero : std::uint8_t { kSigned, kPositive };
enum class Packing : std::uint8_t { kLowFirst, kHighFirst };
enum class ScaleCode : std::uint8_t { kUe8m0, kE4m3 };
enum class ScaleRule : std::uint8_t { kExact, kPow2Ceil, kPow2Floor, kPow2Even };
enum class Nonfinite : std::uint8_t { kSaturate, kPropagate };
enum class Order : std::uint8_t { kPlanar, kInterleaved };

struct ElementFormat {
  std::int32_t exponent = 0;
  std::int32_t mantissa = 0;
  std::int32_t bias = 0;
  Special special = Special::kNone;
  Overflow overflow = Overflow::kSaturate;
  Ties ties = Ties::kEven;
  Zero zero = Zero::kSigned;
  std::int32_t nan = 0;
  Packing packing = Packing::kLowFirst;

  bool operator==(const ElementFormat&) const = default;

  int Bits() const { return 1 + exponent + mantissa; }
  std::uint32_t SignBit() const { return 1u << (exponent + mantissa); }
  std::uint32_t MagnitudeMask() const { return SignBit() - 1; }
  // The code of the largest finite magnitude.
  std::uint32_t MaxCode() const;
  // The largest finite magnitude.
  float Max() const;
  // floor(log2(Max())).
  int MaxExponent() const;
};

struct BlockScale {
  std::int32_t size = 0;
  ScaleCode code = ScaleCode::kUe8m0;
  ScaleRule rule = ScaleRule::kPow2Ceil;
  float floor = 0;
  Nonfinite nonfinite = Nonfinite::kSaturate;

  bool operator==(const BlockScale&) const = default;
};

struct RowScale {
  ScaleRule rule = ScaleRule::kExact;
  float floor = 0;

  bool operator==(const RowScale&) const = default;
};

struct Format {
  std::string name;
  SourceLocation location;
  ElementFormat element;
  std::optional<BlockScale> block_scale;
  std::optional<RowScale> row_scale;

  // Elements that share one block scale: the whole row when there is none.
  int BlockSize(int dim) const { return block_scale ? block_scale->size : dim; }
  int Blocks(int dim) const { return dim / BlockSize(dim); }
  // Bytes of a row's values.
  int ValueBytes(int dim) const { return dim * element.Bits() / 8; }
  // Bytes of a row's block scales, padded to 4 bytes with the code of 1.0.
  int BlockScaleBytes(int dim) const { return block_scale ? (Blocks(dim) + 3) / 4 * 4 : 0; }
  // Bytes of a row's scales: block scales, then the f32 row scale.
  int ScaleBytes(int dim) const { return BlockScaleBytes(dim) + (row_scale ? 4 : 0); }
  int RowBytes(int dim) const { return ValueBytes(dim) + ScaleBytes(dim); }
  // The byte that pads block scales: the code of 1.0.
  int PaddingScaleCode() const;
};

struct Layout {
  std::string name;
  SourceLocation location;
  std::int32_t tokens = 64;
  Order order = Order::kPlanar;
  std::int32_t align = 64;

  std::int64_t PageBytes(const Format& format, int dim) const {
    return std::int64_t{tokens} * format.RowBytes(dim);
  }
  // Bytes from the page base to the values and the scales of row `token`: token * stride + base.
  int ValueStride(const Format& format, int dim) const;
  int ScaleStride(const Format& format, int dim) const;
  int ScaleBase(const Format& format, int dim) const;
};

// E4M3 (OCP: no infinity), the element format of scales that are stored in it.
ElementFormat E4m3();

}  // namespace lijit::ir

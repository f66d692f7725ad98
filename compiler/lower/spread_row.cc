// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/spread_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/float_text.h"

namespace lijit::lower {

using ir::Builder;
using ir::Memory;
using ir::OpCode;

Spread Spread::Of(int dim, ValueId lane) {
  const int per_lane = std::max(2, dim / kWarp);
  return {dim, per_lane, dim / per_lane, lane};
}

namespace {

// The largest magnitude among `lanes` neighbouring lanes, as bits: unsigned order is the order of
// magnitudes, with NaN on top.
ValueId LargestMagnitude(Builder& b, const LaneElements& x, int lanes, bool keep_nan) {
  ValueId largest = -1;
  for (const ValueId element : x) {
    ValueId bits = b.AndConst(b.Bitcast(element), 0x7fffffff);
    if (!keep_nan) {
      const ValueId is_nan = b.Compare(OpCode::kLtU, b.I32(0x7f800000), bits);
      bits = b.Select(is_nan, b.I32(0), bits);
    }
    largest = largest < 0 ? bits : b.Binary(OpCode::kMaxU, largest, bits);
  }
  for (int mask = 1; mask < lanes; mask *= 2) {
    largest = b.Binary(OpCode::kMaxU, largest, b.ShuffleXor(largest, mask));
  }
  return largest;
}

ValueId WithFloor(Builder& b, ValueId bits, float floor) {
  return b.Bitcast(b.Binary(OpCode::kMaxU, bits, b.I32(BitsOfFloat(floor))));
}

// The smallest power of two not below x > 0, at most 2^127.
ValueId Pow2Ceil(Builder& b, ValueId x) {
  const ValueId power = b.AndConst(b.AddConst(b.Bitcast(x), 0x7fffff), 0xff800000);
  return b.Bitcast(b.Binary(OpCode::kMinU, power, b.I32(0x7f000000)));
}

// The f32 scale of the row. With block scales of E4M3 it brings their quotients into range.
ValueId RowScaleOf(Builder& b, const ir::Format& format, ValueId magnitude_bits) {
  const ValueId a = WithFloor(b, magnitude_bits, format.row_scale->floor);
  const float largest = format.element.Max() * (format.block_scale ? ir::E4m3().Max() : 1.0f);
  const ValueId quotient = b.Binary(OpCode::kDiv, a, b.F32(largest));
  const bool exact = format.row_scale->rule == ir::ScaleRule::kExact;
  return exact ? quotient : Pow2Ceil(b, quotient);
}

// Elements divided by their scale. For powers of two the product with the inverse is the quotient.
LaneElements DivideByUe8m0(Builder& b, const ir::Module& module, const SpreadCodes& codes,
                           const LaneElements& x) {
  const ir::Format& format = module.FormatOf(codes.format);
  ValueId inverse_code = b.Sub(b.I32(254), codes.block_code);
  if (format.block_scale->nonfinite == ir::Nonfinite::kPropagate) {
    const ValueId is_nan = b.Compare(OpCode::kEq, codes.block_code, b.I32(255));
    inverse_code = b.Select(is_nan, b.I32(255), inverse_code);
  }
  const ValueId inverse = EmitDecodeScale(b, codes.format, inverse_code);
  LaneElements scaled;
  for (const ValueId element : x) scaled.push_back(b.Mul(element, inverse));
  return scaled;
}

// A scale of zero stores zeros.
LaneElements DivideByProduct(Builder& b, const SpreadCodes& codes, const LaneElements& x) {
  const ValueId scale = b.Mul(EmitDecodeScale(b, codes.format, codes.block_code), codes.row_scale);
  const ValueId is_zero = b.Compare(OpCode::kEq, scale, b.F32(0));
  LaneElements scaled;
  for (const ValueId element : x) {
    scaled.push_back(b.Select(is_zero, b.F32(0), b.Binary(OpCode::kDiv, element, scale)));
  }
  return scaled;
}

LaneElements DivideByRowScale(Builder& b, const SpreadCodes& codes, const LaneElements& x) {
  LaneElements scaled;
  for (const ValueId element : x) {
    scaled.push_back(b.Binary(OpCode::kDiv, element, codes.row_scale));
  }
  return scaled;
}

ValueId BlockCode(Builder& b, const ir::Module& module, const Spread& spread,
                  const SpreadCodes& codes, const LaneElements& x) {
  const ir::Format& format = module.FormatOf(codes.format);
  const ir::BlockScale& scale = *format.block_scale;
  const ValueId bits = LargestMagnitude(b, x, scale.size / spread.per_lane,
                                        scale.nonfinite == ir::Nonfinite::kPropagate);
  ValueId a = WithFloor(b, bits, scale.floor);
  if (scale.rule == ir::ScaleRule::kExact || scale.rule == ir::ScaleRule::kPow2Ceil) {
    a = b.Binary(OpCode::kDiv, a, b.F32(format.element.Max()));
  }
  if (format.row_scale) a = b.Binary(OpCode::kDiv, a, codes.row_scale);
  return EmitEncodeScale(b, codes.format, a);
}

}  // namespace

SpreadCodes EncodeSpread(Builder& b, const ir::Module& module, const Spread& spread,
                         ir::FormatId format_id, const LaneElements& x) {
  const ir::Format& format = module.FormatOf(format_id);
  SpreadCodes codes;
  codes.format = format_id;
  codes.row_scale = format.row_scale
                        ? RowScaleOf(b, format, LargestMagnitude(b, x, spread.lanes, false))
                        : b.F32(1.0f);
  LaneElements scaled = x;
  if (format.block_scale) {
    codes.block_code = BlockCode(b, module, spread, codes, x);
    scaled = format.block_scale->code == ir::ScaleCode::kUe8m0 ? DivideByUe8m0(b, module, codes, x)
                                                               : DivideByProduct(b, codes, x);
  } else if (format.row_scale) {
    scaled = DivideByRowScale(b, codes, x);
  }
  const int bits = format.element.Bits();
  for (std::size_t i = 0; i < scaled.size(); i += 2) {
    const ValueId pair = EmitEncodePair(b, module, format_id, scaled[i], scaled[i + 1]);
    const int at = static_cast<int>(i) * bits % 32;
    if (at == 0) {
      codes.words.push_back(pair);
    } else {
      codes.words.back() = b.Or(codes.words.back(), b.ShlConst(pair, at));
    }
  }
  return codes;
}

void StoreSpread(Builder& b, const ir::Module& module, const Spread& spread,
                 const SpreadCodes& codes, const StoredPlace& place) {
  const ir::Format& format = module.FormatOf(codes.format);
  const auto lane_offset = [&](ValueId base, int bytes) {
    return b.Add(base, b.WidenU(b.MulConst(spread.lane, bytes)));
  };
  const auto if_lane_below = [&](int count, const std::function<void()>& then) {
    count >= kWarp ? then() : b.If(b.Compare(OpCode::kLt, spread.lane, b.I32(count)), then);
  };

  const int lane_bytes = spread.per_lane * format.element.Bits() / 8;
  const Memory memory = lane_bytes == 1   ? Memory::kU8
                        : lane_bytes == 2 ? Memory::kU16
                                          : Memory::kI32;
  if_lane_below(spread.lanes, [&] {
    const ValueId at = lane_offset(place.values_at, lane_bytes);
    for (std::size_t i = 0; i < codes.words.size(); ++i) {
      b.Store(memory, place.values, b.AddConst(at, static_cast<std::int64_t>(4 * i)),
              codes.words[i]);
    }
  });

  const int scale_bytes = format.BlockScaleBytes(spread.dim);
  if (format.block_scale) {
    const int blocks = format.Blocks(spread.dim);
    const int lanes = format.block_scale->size / spread.per_lane;
    const ValueId block = b.UdivConst(spread.lane, lanes);
    const ValueId is_first = b.Compare(OpCode::kEq, b.UremConst(spread.lane, lanes), b.I32(0));
    const ValueId holds = b.Compare(OpCode::kLt, block, b.I32(blocks));
    b.If(b.And(is_first, holds), [&] {
      b.Store(Memory::kU8, place.scales, b.Add(place.scales_at, b.WidenU(block)), codes.block_code);
    });
    if (blocks < scale_bytes) {
      if_lane_below(scale_bytes - blocks, [&] {
        b.Store(Memory::kU8, place.scales, b.AddConst(lane_offset(place.scales_at, 1), blocks),
                b.I32(format.PaddingScaleCode()));
      });
    }
  }
  if (format.row_scale && place.with_row_scale) {
    if_lane_below(1, [&] {
      b.Store(Memory::kF32, place.scales, b.AddConst(place.scales_at, scale_bytes),
              codes.row_scale);
    });
  }
}

std::string RopeProblem(int dim, int rotary_dim, ir::RopePlace place) {
  const int per_lane = Spread::Of(dim, -1).per_lane;
  const int first = place == ir::RopePlace::kLast ? dim - rotary_dim : 0;
  const int half_lanes = rotary_dim / 2 / per_lane;
  const bool whole_lanes = rotary_dim % (2 * per_lane) == 0;
  const bool power_of_two = half_lanes > 0 && (half_lanes & (half_lanes - 1)) == 0;
  if (whole_lanes && power_of_two && first % rotary_dim == 0) return {};
  return fmt::format(
      "rope of {} out of {} dims: half of them must be a power of two times {}, and "
      "they must begin at a multiple of their number",
      rotary_dim, dim, per_lane);
}

LaneElements RopeSpread(Builder& b, const Spread& spread, const LaneElements& x, int rotary_dim,
                        ir::RopeStyle style, ir::RopePlace place, ValueId table, ValueId table_at) {
  const int half = rotary_dim / 2;
  const int first_lane =
      place == ir::RopePlace::kLast ? (spread.dim - rotary_dim) / spread.per_lane : 0;
  // Lanes before the rotary part wrap around and are as far outside as those behind it.
  const ValueId rotary_lane = b.Sub(spread.lane, b.I32(first_lane));
  const ValueId is_rotary =
      b.Compare(OpCode::kLtU, rotary_lane, b.I32(rotary_dim / spread.per_lane));
  const ValueId safe_lane = b.Select(is_rotary, rotary_lane, b.I32(0));
  const bool neox = style == ir::RopeStyle::kNeox;

  // table[index] and table[index + half] of the pair that holds rotary element `element`.
  const auto angle = [&](ValueId element) {
    const ValueId index = neox ? b.UremConst(element, half) : b.ShrConst(element, 1);
    const ValueId at = b.Add(table_at, b.WidenU(b.ShlConst(index, 2)));
    const ValueId cosine = b.Load(Memory::kF32, table, at);
    return std::pair(cosine, b.Load(Memory::kF32, table, b.AddConst(at, std::int64_t{4} * half)));
  };

  LaneElements turned;
  for (int i = 0; i < spread.per_lane; ++i) {
    const ValueId element = b.AddConst(b.MulConst(safe_lane, spread.per_lane), i);
    const auto [cosine, sine] = angle(element);
    const auto own = x[static_cast<std::size_t>(i)];
    const ValueId partner =
        neox ? b.ShuffleXor(own, half / spread.per_lane) : x[static_cast<std::size_t>(i ^ 1)];
    const ValueId is_first =
        neox ? b.Compare(OpCode::kLtU, element, b.I32(half)) : b.I1(i % 2 == 0);
    const ValueId a = b.Mul(own, cosine);
    const ValueId c = b.Mul(partner, sine);
    const ValueId first = b.Sub(a, c);
    const ValueId rotated = b.Select(is_first, first, b.Add(a, c));
    turned.push_back(b.Select(is_rotary, rotated, own));
  }
  return turned;
}

LaneElements HadamardSpread(Builder& b, const Spread& spread, LaneElements x) {
  for (int distance = 1; distance < spread.dim; distance *= 2) {
    LaneElements next = x;
    if (distance < spread.per_lane) {
      for (int i = 0; i < spread.per_lane; ++i) {
        const ValueId low = x[static_cast<std::size_t>(i & ~distance)];
        const ValueId high = x[static_cast<std::size_t>(i | distance)];
        next[static_cast<std::size_t>(i)] =
            (i & distance) == 0 ? b.Add(low, high) : b.Sub(low, high);
      }
    } else {
      const int mask = distance / spread.per_lane;
      const ValueId is_low = b.Compare(OpCode::kEq, b.AndConst(spread.lane, mask), b.I32(0));
      for (ValueId& element : next) {
        const ValueId partner = b.ShuffleXor(element, mask);
        const ValueId sum = b.Add(element, partner);
        element = b.Select(is_low, sum, b.Sub(partner, element));
      }
    }
    x = std::move(next);
  }
  return x;
}

}  // namespace lijit::lower

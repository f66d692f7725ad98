// SPDX-License-Identifier: Apache-2.0
// The tables of ops.def, attributes.def and kernel_kinds.def as enums and rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lijit::ir {

enum class OpCode : std::uint8_t {
#define OP(enumerator, mnemonic, level, operands, results, rule, attributes, doc) enumerator,
#include "compiler/ir/ops.def"
};

enum class Level : std::uint8_t { kAny, kHigh, kMid, kLow };

enum class TypeRule : std::uint8_t {
  kConst,
  kNumeric,
  kFloat,
  kExtend,
  kRope,
  kHadamard,
  kEncode,
  kRowScale,
  kDot,
  kWeightedSum,
  kBits,
  kInteger,
  kCompare,
  kCompareInteger,
  kSelect,
  kBitcast,
  kWiden,
  kNarrow,
  kBitsToF32,
  kF32ToBits,
  kEncodePair,
  kDecodePair,
  kIndex,
  kAddress,
  kLoad,
  kStore,
  kLoadShared,
  kStoreShared,
  kNone,
  kShuffle,
  kBallot,
  kTileScores,
  kFor,
  kIf,
  kYield,
};

struct OpRow {
  OpCode code;
  std::string_view mnemonic;
  Level level;
  int operands;  // -1: by the rule
  int results;   // -1: by the rule
  TypeRule rule;
  std::string_view attributes;
  std::string_view doc;
};

std::span<const OpRow> AllOps();
// Regions of an op: 1 of for, 2 of if and tile_scores, 0 of the others.
std::size_t RegionsOf(OpCode code);
const OpRow& RowOf(OpCode code);
std::optional<OpCode> OpFromMnemonic(std::string_view mnemonic);

enum class AttributeKey : std::uint8_t {
#define ATTRIBUTE(enumerator, key, kind, doc) enumerator,
#include "compiler/ir/attributes.def"
};

enum class AttributeKind : std::uint8_t {
  kInteger,
  kFormat,
  kRopeStyle,
  kRopePlace,
  kHalf,
  kMemory,
  kMatrixUnit,
};

enum class RopeStyle : std::uint8_t { kNeox, kInterleaved };
enum class RopePlace : std::uint8_t { kFirst, kLast };
enum class Half : std::uint8_t { kBf16, kF16 };
enum class MatrixUnit : std::uint8_t { kMma, kWgmma };
enum class Memory : std::uint8_t { kU8, kU16, kI32, kI64, kF32 };

struct AttributeRow {
  AttributeKey key;
  std::string_view text;
  AttributeKind kind;
  std::string_view doc;
};

std::span<const AttributeRow> AllAttributes();
const AttributeRow& RowOf(AttributeKey key);
std::optional<AttributeKey> AttributeFromText(std::string_view text);
// The keyword of a keyword attribute's value, "" if the kind has none.
std::string_view KeywordText(AttributeKind kind, std::int64_t value);
std::optional<std::int64_t> KeywordValue(AttributeKind kind, std::string_view text);
// Whether `row` takes the attribute, and whether it needs it.
enum class AttributeUse : std::uint8_t { kNo, kOptional, kRequired };
AttributeUse UseOf(const OpRow& row, AttributeKey key);

enum class KernelKind : std::uint8_t {
#define KERNEL_KIND(enumerator, text, doc) enumerator,
#include "compiler/ir/kernel_kinds.def"
};

struct KernelKindRow {
  KernelKind kind;
  std::string_view text;
  std::string_view doc;
};

std::span<const KernelKindRow> AllKernelKinds();
std::string_view KernelKindName(KernelKind kind);
std::optional<KernelKind> KernelKindFromName(std::string_view text);

}  // namespace lijit::ir

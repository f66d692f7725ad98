// SPDX-License-Identifier: Apache-2.0
// A module: formats, layouts and kernels. Plain data; whoever holds one may read all of it. What
// must hold of it is listed at the head of verifier.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/format.h"
#include "compiler/ir/op.h"
#include "compiler/ir/type.h"
#include "compiler/support/diagnostic.h"

namespace lijit::ir {

// Index into Kernel::values.
using ValueId = std::int32_t;

struct Attribute {
  AttributeKey key;
  std::int64_t value;  // an integer, a FormatId, or the enumerator of a keyword table

  bool operator==(const Attribute&) const = default;
};

struct Block;

struct Op {
  OpCode code = OpCode::kYield;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<Attribute> attributes;
  std::uint64_t constant = 0;  // kConst: the bits, f32 in the low half, integers sign-extended
  std::vector<Block> regions;  // kFor: body; kIf: then, else
  SourceLocation location;

  // The attribute's value, or `fallback` if the op has none.
  std::int64_t Get(AttributeKey key, std::int64_t fallback = 0) const;
};

// Ops in order; the last one of a region is a yield.
struct Block {
  std::vector<ValueId> arguments;
  std::vector<Op> ops;
};

struct ValueInfo {
  Type type;
  std::string name;  // without '%'; empty: numbered when printed
};

// CUDA C++ Programming Guide, technical specifications: more shared memory must be dynamic.
inline constexpr std::int32_t kMaxStaticSharedBytes = 48 * 1024;

// A kernel says what is computed per row or per (query, key) pair. An entry is a kernel that a
// schedule has turned into what one thread does; backends print entries.
struct Kernel {
  std::string name;
  KernelKind kind = KernelKind::kQuantizeQuery;
  std::int32_t layout = -1;  // index into Module::layouts, -1 if the kind reads no pages
  Block body;                // its arguments are the parameters
  std::vector<Type> results;
  std::vector<ValueInfo> values;
  SourceLocation location;

  bool is_entry = false;
  // Of entries: threads a block, rows and columns of the output that one block does at a time,
  // bytes of shared memory.
  std::int32_t threads = 0;
  std::int32_t tile_rows = 0;
  std::int32_t tile_columns = 0;
  std::int32_t shared_bytes = 0;  // beyond kMaxStaticSharedBytes all of them are dynamic

  const Type& TypeOf(ValueId id) const { return values[static_cast<std::size_t>(id)].type; }
  ValueId NewValue(Type type, std::string value_name = {});
};

struct Module {
  std::vector<Format> formats;
  std::vector<Layout> layouts;
  std::vector<Kernel> kernels;

  const Format& FormatOf(FormatId id) const { return formats[static_cast<std::size_t>(id)]; }
  // -1 and null if there is none.
  FormatId FindFormat(std::string_view name) const;
  std::int32_t FindLayout(std::string_view name) const;
  const Kernel* FindKernel(std::string_view name) const;
};

}  // namespace lijit::ir

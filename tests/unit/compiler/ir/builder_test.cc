// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/builder.h"

#include <gtest/gtest.h>

#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"

namespace lijit::ir {
namespace {

// The text of an entry whose only parameters are %p: ptr and %n: i64.
std::string TextOf(const std::function<void(Builder&, ValueId p, ValueId n)>& body) {
  Module module;
  Kernel entry;
  entry.name = "e";
  entry.kind = KernelKind::kTopK;
  entry.is_entry = true;
  entry.threads = 32;
  entry.tile_rows = entry.tile_columns = 1;
  Builder b(entry);
  const ValueId p = b.Parameter("p", ScalarType(Scalar::kPtr));
  const ValueId n = b.Parameter("n", ScalarType(Scalar::kI64));
  body(b, p, n);
  b.Yield({});
  b.Finish();
  module.kernels.push_back(std::move(entry));
  EXPECT_TRUE(Verify(module).empty()) << RenderDiagnostics(Verify(module), "built", "");
  return Print(module);
}

constexpr char kHead[] = "entry @e : top_k threads 32 tile 1, 1 shared 0 (%p: ptr, %n: i64) {\n";

TEST(Builder, TypesAreInferred) {
  EXPECT_EQ(TextOf([](Builder& b, ValueId p, ValueId n) {
              const ValueId x = b.Load(Memory::kF32, p, b.AddConst(n, -4));
              const ValueId bits = b.AndConst(b.Bitcast(x), 0xffffffff);
              const ValueId again = b.Bitcast(bits);
              const ValueId less = b.Compare(OpCode::kLt, again, b.F32(0.1f));
              const ValueId offset = b.MulConst(b.WidenU(bits), 2);
              const ValueId chosen = b.Select(less, bits, b.Narrow(n));
              b.Store(Memory::kU8, p, offset, chosen);
            }),
            std::string(kHead) +
                "  %0 = const -4 : i64\n"
                "  %1 = add %n, %0 : i64\n"
                "  %2 = load %p, %1 { memory = f32 } : f32\n"
                "  %3 = bitcast %2 : i32\n"
                "  %4 = const -1 : i32\n"
                "  %5 = and %3, %4 : i32\n"
                "  %6 = bitcast %5 : f32\n"
                "  %7 = const 0.1 : f32\n"
                "  %8 = lt %6, %7 : i1\n"
                "  %9 = widenu %5 : i64\n"
                "  %10 = const 2 : i64\n"
                "  %11 = mul %9, %10 : i64\n"
                "  %12 = narrow %n : i32\n"
                "  %13 = select %8, %5, %12 : i32\n"
                "  store %p, %11, %13 { memory = u8 }\n"
                "  yield\n"
                "}\n");
}

TEST(Builder, LoopsCarryValues) {
  EXPECT_EQ(TextOf([](Builder& b, ValueId p, ValueId n) {
              const ValueId first = b.I64(0);
              const ValueId step = b.I64(1);
              const auto sums = b.For(
                  first, n, step, {b.F32(0)},
                  [&](ValueId index, const Builder::Values& carried) {
                    return Builder::Values{b.Add(carried[0], b.Load(Memory::kF32, p, index))};
                  },
                  4);
              b.Store(Memory::kF32, p, n, sums[0]);
            }),
            std::string(kHead) +
                "  %0 = const 0 : i64\n"
                "  %1 = const 1 : i64\n"
                "  %2 = const 0.0 : f32\n"
                "  %3 = for %4 = %0, %n, %1 with (%5 = %2) { unroll = 4 } {\n"
                "    %6 = load %p, %4 { memory = f32 } : f32\n"
                "    %7 = add %5, %6 : f32\n"
                "    yield %7\n"
                "  }\n"
                "  store %p, %n, %3 { memory = f32 }\n"
                "  yield\n"
                "}\n");
}

TEST(Builder, BranchesNestAndYield) {
  EXPECT_EQ(TextOf([](Builder& b, ValueId p, ValueId n) {
              const ValueId condition = b.Compare(OpCode::kEq, n, b.I64(0));
              b.If(condition, [&] {
                const auto one = b.If(
                    condition, {ScalarType(Scalar::kI32)},
                    [&] { return Builder::Values{b.I32(1)}; },
                    [&] { return Builder::Values{b.ThreadId()}; });
                b.Store(Memory::kI32, p, n, one[0]);
              });
            }),
            std::string(kHead) +
                "  %0 = const 0 : i64\n"
                "  %1 = eq %n, %0 : i1\n"
                "  if %1 {\n"
                "    %2 = if %1 : i32 {\n"
                "      %3 = const 1 : i32\n"
                "      yield %3\n"
                "    } else {\n"
                "      %4 = thread_id : i32\n"
                "      yield %4\n"
                "    }\n"
                "    store %p, %n, %2 { memory = i32 }\n"
                "    yield\n"
                "  } else {\n"
                "    yield\n"
                "  }\n"
                "  yield\n"
                "}\n");
}

}  // namespace
}  // namespace lijit::ir

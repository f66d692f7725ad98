// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/cuda/wgmma_text.h"

#include <fmt/format.h>

#include <string_view>

namespace lijit::codegen {
namespace {

struct WgmmaRow {
  std::string_view types;  // of the instruction: sums, A, B
  std::string_view register_type;
  char constraint;
  std::string_view scales;  // of A and B, of floating-point types alone
};

constexpr WgmmaRow RowOf(WgmmaType type) {
  if (type == WgmmaType::kS8) return {"s32.s8.s8", "unsigned int", 'r', ""};
  return {"f32.e4m3.e4m3", "float", 'f', ", 1, 1"};
}

// text(0), text(1), ..., separated by commas, some a line.
template <typename Text>
std::string List(int count, std::string_view line_end, const Text& text) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    if (i > 0) list += i % 8 == 0 ? line_end : ", ";
    list += text(i);
  }
  return list;
}

}  // namespace

std::string WgmmaText(WgmmaType type, int columns) {
  const WgmmaRow row = RowOf(type);
  const int count = columns / 2;
  const std::string outputs = List(count, ",\n        ", [&](int i) {
    return fmt::format("\"+{}\"(t.v[{}])", row.constraint, i);
  });
  const std::string names =
      List(count, ", \"\n      \"", [](int i) { return fmt::format("%{}", i); });
  return fmt::format(R"(struct Tile {{
  {0} v[{1}];
}};

__device__ __forceinline__ void fence(Tile& t) {{
  asm volatile(
      ""
      : {2}
      :
      : "memory");
}}

__device__ __forceinline__ void multiply_step(Tile& t, const unsigned int (&a)[4],
                                              unsigned int b_low, unsigned int b_high,
                                              bool accumulate) {{
  asm volatile(
      "{{\n.reg .pred p;\n.reg .b64 b;\nsetp.ne.b32 p, %{3}, 0;\nmov.b64 b, {{%{4}, %{5}}};\n"
      "wgmma.mma_async.sync.aligned.m64n{6}k32.{7} "
      "{{{8}}}, "
      "{{%{9}, %{10}, %{11}, %{12}}}, b, p{13};\n}}"
      : {2}
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high),
        "r"(accumulate ? 1 : 0)
      : "memory");
}}
)",
                     row.register_type, count, outputs, count + 6, count + 4, count + 5, columns,
                     row.types, names, count, count + 1, count + 2, count + 3, row.scales);
}

}  // namespace lijit::codegen

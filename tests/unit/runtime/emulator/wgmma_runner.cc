// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runtime/emulator/wgmma_runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace lijit::emulator {
namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kRowBytes = 32;

struct Element {
  unsigned row;
  unsigned column;
};

// PTX ISA, "Register Fragments for wgmma": element `i` of the thread's D.
Element OfD(unsigned thread, unsigned i) {
  return {thread / 32 * 16 + thread % 32 / 4 + (i % 4 / 2) * 8, i / 4 * 8 + thread % 4 * 2 + i % 2};
}

// Register `i` of the thread's A: a row, and the first of four bytes in it.
Element OfA(unsigned thread, unsigned i) {
  return {thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8, i / 2 * 16 + thread % 4 * 4};
}

}  // namespace

std::uint64_t TileLayout::Descriptor() const {
  const std::uint64_t mode = swizzle_bytes == 0     ? 0
                             : swizzle_bytes == 128 ? 1
                             : swizzle_bytes == 64  ? 2
                                                    : 3;
  // Without swizzle, a step along K is a step of core matrices.
  const std::uint64_t skipped =
      swizzle_bytes == 0 ? skipped_bytes / 16 * leading_bytes : skipped_bytes;
  return (start + skipped) >> 4 | (leading_bytes >> 4) << 16 | (stride_bytes >> 4) << 32 |
         mode << 62;
}

std::uint64_t TileLayout::PlaceOf(unsigned row, unsigned k) const {
  const std::uint64_t group = start + row / 8 * stride_bytes;
  if (swizzle_bytes == 0) return group + k / 16 * leading_bytes + row % 8 * 16 + k % 16;
  // In a pattern of 8 rows, pieces of 16 bytes are exchanged by the number of their 128 bytes.
  const unsigned rows_per_line = 128 / swizzle_bytes;
  const unsigned piece = k / 16 ^ (row % 8 / rows_per_line) % (swizzle_bytes / 16);
  return group + row % 8 * swizzle_bytes + piece * 16 + k % 16;
}

std::string RegisterList(const std::string& prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", prefix, i);
  return text + "}";
}

std::string WgmmaText(unsigned columns, const std::string& body) {
  std::string text = fmt::format(R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 data) {{
.shared .align 1024 .b8 image[{}];
.reg .b64 %data, %from, %out, %d<4>; .reg .b32 %t, %g, %i, %to, %v<4>, %a<4>, %c<{}>, %r<8>;
.reg .pred %more, %true, %q;
ld.param.u64 %data, [data];
mov.u32 %g, %tid.x;
and.b32 %t, %g, 127;
mov.u32 %i, %g;
fill:
mad.wide.u32 %from, %i, 16, %data;
ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%from];
shl.b32 %to, %i, 4;
st.shared.v4.b32 [%to], {{%v0, %v1, %v2, %v3}};
mov.u32 %r0, %ntid.x;
add.u32 %i, %i, %r0;
setp.lt.u32 %more, %i, {};
@%more bra fill;
mad.wide.u32 %from, %t, 16, %data;
ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%from+{}];
mad.wide.u32 %out, %t, {}, %data;
add.u64 %out, %out, {};
setp.eq.u32 %true, 0, 0;
)",
                                 kImageBytes, columns / 2, kImageBytes / 16, kImageBytes,
                                 columns * 2, kImageBytes + kThreads * 16);
  for (unsigned i = 0; i < columns / 2; ++i) {
    text += fmt::format("ld.global.b32 %c{}, [%out+{}];\n", i, 4 * i);
  }
  return text + body + "\n}\n";
}

std::vector<std::uint32_t> WgmmaData(const Wgmma& wgmma) {
  std::vector<std::uint8_t> image(kImageBytes, 0x5a);
  const auto place = [&](const TileLayout& layout, const std::vector<std::uint8_t>& matrix) {
    for (unsigned row = 0; row < matrix.size() / kRowBytes; ++row) {
      for (unsigned k = 0; k < kRowBytes; ++k) {
        image.at(layout.PlaceOf(row, k + layout.skipped_bytes)) = matrix[row * kRowBytes + k];
      }
    }
  };
  place(wgmma.b_layout, wgmma.b);
  if (wgmma.a_layout) place(*wgmma.a_layout, wgmma.a);
  std::vector<std::uint32_t> data;
  const auto word = [](const std::vector<std::uint8_t>& bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= std::uint32_t{bytes[at + i]} << 8 * i;
    return value;
  };
  for (unsigned i = 0; i < kImageBytes; i += 4) data.push_back(word(image, i));
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    for (unsigned i = 0; i < 4; ++i) {
      const Element first = OfA(thread, i);
      data.push_back(word(wgmma.a, first.row * kRowBytes + first.column));
    }
  }
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    for (unsigned i = 0; i < wgmma.columns / 2; ++i) {
      const Element element = OfD(thread, i);
      data.push_back(wgmma.c[element.row * wgmma.columns + element.column]);
    }
  }
  return data;
}

std::vector<std::uint32_t> Multiply(const Wgmma& wgmma) {
  std::string body = "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
  if (!wgmma.keeps_sums) body += "setp.ne.u32 %true, 0, 0;\n";
  body +=
      fmt::format("mov.u64 %d0, {:#x};\nmov.u64 %d1, {:#x};\n",
                  wgmma.a_layout ? wgmma.a_layout->Descriptor() : 0, wgmma.b_layout.Descriptor());
  body += fmt::format(
      "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n{}k{}.{} {}, {}, "
      "%d1, %true{};\n",
      wgmma.columns, kRowBytes / wgmma.element_bytes, wgmma.types,
      RegisterList("c", wgmma.columns / 2), wgmma.a_layout ? "%d0" : RegisterList("a", 4),
      wgmma.signs);
  body += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  for (unsigned i = 0; i < wgmma.columns / 2; ++i) {
    body += fmt::format("st.global.b32 [%out+{}], %c{};\n", 4 * i, i);
  }
  RunOptions options;
  options.block = {kThreads, 1, 1};
  options.data = WgmmaData(wgmma);
  const Outcome outcome = RunPtx(WgmmaText(wgmma.columns, body), options);
  EXPECT_EQ(outcome.error + outcome.finding, "") << wgmma.types << " " << wgmma.columns;
  std::vector<std::uint32_t> d(wgmma.c.size());
  const std::size_t first = (kImageBytes + kThreads * 16) / 4;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    for (unsigned i = 0; i < wgmma.columns / 2; ++i) {
      const Element element = OfD(thread, i);
      d[element.row * wgmma.columns + element.column] =
          outcome.data[first + thread * (wgmma.columns / 2) + i];
    }
  }
  return d;
}

}  // namespace lijit::emulator

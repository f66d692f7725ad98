// SPDX-License-Identifier: Apache-2.0
// One entry as bytes. Integers are little-endian.
//
//   entry       := magic version header_size frame_size image_size header frame checksum
//   magic       := "LIJITKC\n"
//   version     := u32, kGrammarVersion
//   header_size := u64, bytes of header
//   frame_size  := u64, bytes of frame
//   image_size  := u64, bytes of the image, at most kMaxImageSize
//   header      := fields (cache/fields.h) with these labels, in this order:
//                  key target kind created resources log kernel* tool*
//                  kind is "cubin" or "ptx"; created is decimal seconds since 1970
//   frame       := one zstd frame that decompresses to the image
//   checksum    := XXH3-128 (canonical, 16 bytes) of everything before it; it finds accidents, it
//                  is no signature: who may write to the folder is trusted (lijit/cache.h)
//
// History of the grammar. A reader reads its own version only; others are misses that are rebuilt.
//   1  the first
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lijit/cache.h"

namespace lijit::cache {

inline constexpr std::uint32_t kGrammarVersion = 1;
// The largest image worth believing: the largest known cubins of any GPU library are below this.
inline constexpr std::uint64_t kMaxImageSize = std::uint64_t{256} << 20;
// The largest file: an incompressible image and a header with the compilers' logs.
inline constexpr std::uint64_t kMaxEntrySize = kMaxImageSize + (std::uint64_t{64} << 20);

// kInvalidArgument if the entry could not be read back: image or whole too large.
Result<std::vector<std::byte>> EncodeEntry(const Entry& entry);

// "cubin" or "ptx".
std::string_view KindName(ImageKind kind);

// DecodeEntry is declared in lijit/cache.h.

}  // namespace lijit::cache

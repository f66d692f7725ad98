// SPDX-License-Identifier: Apache-2.0
// Entries of the kernel cache as one file, for other machines. The same entries give the same
// bytes, wherever and whenever they were made. A bundle is a tar archive: unpacked, also as a layer
// of a container image, it is a folder for LIJIT_CACHE_READONLY_DIRS; `sha256sum -c SHA256SUMS`
// checks it there.
//
//   bundle   := a canonical tar archive (cache/tar.h) of SHA256SUMS and then the entries by key
//   SHA256SUMS := "# lijit bundle 1\n", and for each entry
//               "# " target " " kind { " " kernel } "\n" sha256 "  " name "\n"
//   name     := "ab/cdef01...89.entry", the place in a folder (cache/folder.h)
//   entry    := cache/entry.h, its `created` being 0
//
// History of the grammar. A reader reads its own version only.
//   1  the first
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lijit/cache.h"
#include "lijit/result.h"

namespace lijit::cache {

// The bytes of a bundle of these entries, in any order. kInvalidArgument: two entries of one key,
// or one that is too large.
Result<std::vector<std::byte>> EncodeBundle(std::vector<Entry> entries);

// What a bundle holds, as far as it is whole.
struct Bundle {
  std::vector<Entry> entries;         // by key
  std::vector<std::string> problems;  // what is damaged, naming it; every changed bit is found
};
// kInvalidArgument if this is no bundle at all.
Result<Bundle> DecodeBundle(std::span<const std::byte> bytes);

struct BundleReport {
  std::uint64_t entries = 0;  // in the bundle
  std::uint64_t bytes = 0;    // of the bundle
  std::string sha256;         // of the bundle
  std::uint64_t stored = 0;   // by Import; the other entries were there
};

// Writes the store's entries for `targets` (none: all) to a file. An entry is taken from the first
// folder that has it whole. kDamaged: no folder has it whole; kInvalidArgument: there is no entry
// for one of the targets; kUnavailable: the file cannot be written. Then no file is made.
Result<BundleReport> Export(const Store& store, const std::string& path,
                            std::span<const std::string> targets, const Validator& validator);

// Stores a bundle's entries in the writable folder, all or, if one is damaged or refused by
// `validator`, none. kDamaged names what is wrong; kInvalidArgument: no bundle, or larger than the
// folder's limit; kUnavailable: the folder cannot be written.
Result<BundleReport> Import(Store& store, const std::string& path, const Validator& validator);

}  // namespace lijit::cache

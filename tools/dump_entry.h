// SPDX-License-Identifier: Apache-2.0
// A cache entry or a bundle of them as a dump: headers' fields and the cubins inside.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "lijit/cache.h"
#include "lijit/cubin.h"

namespace lijit::tools {

struct EntryDump {
  cubin::Dump dump;
  std::optional<cache::Entry> entry;  // none if the file is damaged, or is no entry
};

// Nothing if the bytes do not begin as an entry does. PTX is a member of the dump.
std::optional<EntryDump> DumpEntry(std::span<const std::byte> bytes);

// Nothing if the bytes do not begin as a bundle does. Entries are members of the dump, by their
// key.
std::optional<cubin::Dump> DumpBundle(std::span<const std::byte> bytes);

}  // namespace lijit::tools

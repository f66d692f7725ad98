// SPDX-License-Identifier: Apache-2.0
// A cache entry as a dump: its header's fields and the cubin inside.
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

}  // namespace lijit::tools

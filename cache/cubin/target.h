// SPDX-License-Identifier: Apache-2.0
// The target of a cubin: decoded from e_flags, compared with everything else that records it.
#pragma once

#include <optional>
#include <string_view>

#include "cache/cubin/attributes.h"
#include "cache/cubin/kernels.h"
#include "cache/cubin/notes.h"

namespace lijit::cubin {

struct NamedTarget {
  std::uint32_t sm = 0;
  char suffix = 0;  // 'a', 'f' or 0
};

// "sm_90a" -> {90, 'a'}; nothing if the text has another form.
std::optional<NamedTarget> ParseTarget(std::string_view text);

// The target that the last tool with an -arch option names: "-arch sm_100f -m 64".
std::optional<NamedTarget> ToolTarget(const std::vector<ToolNote>& tools);

// Fills the members of `image` that tell its target.
void ReadTarget(const Elf& elf, const Notes& notes, std::span<const Record> compat, Image& image,
                Problems& problems);

}  // namespace lijit::cubin

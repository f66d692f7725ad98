// SPDX-License-Identifier: Apache-2.0
// Keys of the cache for people: field by field, and what two of them differ in.
#pragma once

#include <string>
#include <string_view>

#include "lijit/result.h"
#include "tools/report.h"

namespace lijit::tools {

// A field a line; a field of several lines (a module) under its label. What is no key comes as it
// is.
std::string KeyText(std::string_view key);
// A list of {label, bytes}; null for what is no key.
nlohmann::ordered_json KeyJson(std::string_view key);

// What `lijit cache explain` answers. kDamaged: an entry's key is none.
Result<Report> ReportExplain(std::string_view a, std::string_view b);

}  // namespace lijit::tools
